// Data of the live view: the box's events of the last minute. It has no clock and draws nothing:
// times are arguments, in seconds of the box's clock. Older events are dropped in `forget`.
"use strict";
class LiveMinute {
  static WINDOW_S = 60;
  static MOST = { levels: 4000, marks: 2000, states: 2000, answers: 40 };   // limits, in case a clock is wrong

  constructor() { this.clear(); }

  clear() {
    this.levels = [];           // {t, o, b}, one every 40 ms
    this.states = [];           // {t, state}
    this.marks = [];            // events with a time
    this.answers = new Map();   // turn → {from, spans: [[t, t]], open, total, at, cut}
  }

  // Add an event. Returns it with values derived from earlier ones: `ms` from the onset to a pause,
  // `back` if a resume repeats a word, `left`: seconds of an answer that were cut off.
  take(e, step = 0.04) {
    const a = this.answers.get(e.turn);
    let more = {};
    switch (e.k) {
      case "levels":
        for (let n = 0; n < e.o.length; n++) this.levels.push({ t: e.t + n * step, o: e.o[n], b: e.b[n] });
        return e;
      case "state":
        this.states.push(e);
        return e;
      case "spoken":
        if (a) a.total = Math.max(a.total, e.to);
        else this.answers.set(e.turn, { from: null, spans: [], open: null, total: e.to, cut: null });
        return e;
      case "answer":
        this.answers.set(e.turn, { from: e.t, spans: [], open: e.t, total: a ? a.total : 0, cut: null });
        break;
      case "pause": {
        const onset = this.marks.findLast((m) => m.k === "onset");
        more = { ms: onset && e.t >= onset.t ? Math.round(1000 * (e.t - onset.t)) : null };
        this.close(a, e.t);
        if (a) a.at = e.at;
        break;
      }
      case "resume":
        more = { back: Boolean(a && a.at !== undefined && a.at - e.at > 0.02) };
        if (a) a.open = e.t;
        break;
      case "finish":
        this.close(a, e.t);
        break;
      case "stop":
        this.close(a, e.t);
        more = { left: a ? Math.max(0, a.total - e.at) : 0 };
        if (a) a.cut = { t: e.t, left: more.left };
        break;
    }
    const whole = { ...e, ...more };
    this.marks.push(whole);
    return whole;
  }

  close(a, t) {
    if (a && a.open !== null) { a.spans.push([a.open, t]); a.open = null; }
  }

  // Drop events that are no longer drawn. `now` in seconds of the box's clock.
  forget(now) {
    const old = now - LiveMinute.WINDOW_S - 2, young = (e) => e.t > old, most = LiveMinute.MOST;
    if (this.levels.length && this.levels[0].t < old - 5) this.levels = this.levels.filter(young);
    if (this.marks.length && this.marks[0].t < old) this.marks = this.marks.filter(young);
    while (this.states.length > 1 && this.states[1].t < old) this.states.shift();
    for (const [turn, a] of this.answers) {
      const gone = a.spans.findIndex(([, to]) => to > old);
      if (gone > 0) a.spans.splice(0, gone);
      if (a.open !== null) continue;   // still playing
      const end = a.cut ? a.cut.t + a.cut.left : a.spans.length ? a.spans.at(-1)[1] : null;
      if (end !== null && end < old) this.answers.delete(turn);
    }
    for (const name of ["levels", "marks", "states"]) {
      if (this[name].length > most[name]) this[name].splice(0, this[name].length - most[name]);
    }
    while (this.answers.size > most.answers) this.answers.delete(this.answers.keys().next().value);
  }
}
