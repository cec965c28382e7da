// The live view: draws the box's events of the last minute. Older events are dropped.
"use strict";
(() => {
  const WINDOW_S = LiveMinute.WINDOW_S, EVENTS = 8, SILENT_MS = 20_000, PATIENCE_MS = 8000, NARROW_PX = 520;
  const $ = (id) => document.getElementById(id);
  const texts = JSON.parse($("texts").textContent);
  const fill = (text, words) => text.replace(/\{(\w+)\}/g, (_, w) => words[w]);
  const say = (key, words = {}) => fill(texts.ev[key] || key, words);
  const canvas = $("picture"), ink = canvas.getContext("2d");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  document.body.classList.add("live");

  const minute = new LiveMinute();
  let offset = null;          // seconds: the box's clock minus this browser's
  let words = new Map();      // turn → {said: [sentence], heard}
  let lines = [];             // entries of the event list
  let stream = null, colours = {}, lastDrawn = 0, lastHeard = 0;
  const so = {};              // last known value of each control: id → value
  const sent = new Map();     // form → number of submissions; results of older ones are ignored
  let asked = 0;              // number of requests for the timers; older replies are ignored

  const now = () => performance.now() / 1000 + offset;

  // ── events in
  const kinds = {
    hello(e) {
      const before = offset === null ? null : now();
      offset = e.now - performance.now() / 1000;
      // Events repeated in the history are listed once. After a reboot the box's clock starts at zero.
      const first = e.history.length ? e.history[0].t : Infinity;
      lines = before !== null && e.now < before - 5 ? []
        : lines.filter((one) => one.heard !== undefined || one.t < first);
      minute.clear();
      for (const one of e.history) take(one, true);
      lines.sort((one, other) => other.t - one.t);
      if (!minute.states.length) minute.states.push({ t: e.now - WINDOW_S, state: e.state });
      show(e.state); figures(e); tell();
      if (before !== null) timers();   // they may have changed while disconnected
      if ("muted" in e.status) controls(e.status);   // the status may have changed since the page was loaded
      $("hint").hidden = true;
    },
    now(e) { if (Math.abs(e.now - now()) > 2) offset = e.now - performance.now() / 1000; },
    levels(e) {
      const late = e.t + 0.24 - now();
      if (late > 0.05 || late < -2) offset += late;   // correct the drift between the clocks
    },
    state(e, old) { if (!old) show(e.state); },
    status(e) { controls(e); },
    figures(e) { figures(e); },
    timers() { timers(); },
    spoken() {},
    onset(e) { if (e.over) list(e, say("onset-over")); },
    speech_end(e) { list(e, say("speech-end")); },
    wake(e) { list(e, say("wake")); },
    answer(e) { list(e, say("answer")); },
    pause(e) { if (e.ms !== null) also(e, say("pause", { ms: e.ms })); },
    verdict(e) {
      const p = e.p === null ? "" : `, ${say("sure", { p: Math.round(100 * e.p), ms: e.age })}`;
      if (e.over) also(e, say(e.kind) + p);
    },
    resume(e) { also(e, say(e.back ? "resume-back" : "resume")); },
    finish(e) { list(e, say("finish")); },
    stop(e) { also(e, say("stop", { heard: e.at.toFixed(1), left: e.left.toFixed(1) })); },
    sentence(e) { word(e.turn).said[e.n] = e.text; },
    heard(e) {
      const said = word(e.turn).said.filter(Boolean).join(" ");
      words.delete(e.turn);
      const rest = !e.all && said.startsWith(e.text) ? said.slice(e.text.length).trim() : "";
      spoken(e.text, rest);
    },
  };
  function take(e, old = false) {
    if (kinds[e.k]) kinds[e.k]("t" in e || e.k === "spoken" ? minute.take(e) : e, old);
  }
  function word(turn) {
    if (!words.has(turn)) words.set(turn, { said: [] });
    while (words.size > 4) words.delete(words.keys().next().value);
    return words.get(turn);
  }

  // ── text and numbers
  function show(state) {
    $("hero").className = `hero state-${state}`;
    if ($("floor").textContent !== texts.state[state]) {
      $("floor").textContent = texts.state[state]; $("why").textContent = texts.state[`${state}-why`];
    }
  }
  function figures(e) {
    for (const kind of ["stops", "answers"]) {
      for (const key of ["p50", "p95", "n"]) {
        const value = e[kind][key];
        $(kind).querySelector(`.${key}`).textContent = value === null ? "–" : value;
      }
    }
  }
  function controls(e) {
    Object.assign(so, { volume: String(Math.round(100 * e.volume)), mode: e.mode, voice: e.voice });
    for (const id in so) if (document.activeElement !== $(id)) put(id);
    if (e.muted !== texts.muted || e.cut !== texts.cut) location.reload();
  }
  function put(id) {            // show the last known value in a control
    const field = $(id);
    if (!field || !(id in so) || (field.options && ![...field.options].some((one) => one.value === so[id]))) return;
    field.value = so[id];
    if (id === "volume") $("volume-percent").textContent = `${field.value} %`;
  }
  async function timers() {     // fetch the line of timers; the event only says that it has changed
    const mine = ++asked;
    try {
      const reply = await fetch("/", { signal: AbortSignal.timeout(PATIENCE_MS) });
      const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("timers");
      if (mine !== asked || !fresh) return;
      $("timers").firstElementChild.textContent = fresh.firstElementChild.textContent;
      $("timers").hidden = fresh.hidden;
    } catch { /* retried at the next hello */ }
  }
  function clock(t) {
    return new Date(Date.now() - 1000 * (now() - t)).toLocaleTimeString([], { hour12: false });
  }
  function list(e, text) {
    lines.unshift({ t: e.t, text, over: e.over }); lines.length = Math.min(lines.length, EVENTS); tell();
  }
  function also(e, text) {            // append to the entry of the same interjection
    const line = lines.find((one) => one.over);
    if (line && e.t - line.t < 3) { line.text += ` · ${text}`; tell(); } else list(e, text);
  }
  function spoken(heard, unsaid) {
    lines.unshift({ t: now(), heard, unsaid }); lines.length = Math.min(lines.length, EVENTS); tell();
  }
  function tell() {
    const made = lines.map((line) => {
      const li = document.createElement("li"), time = document.createElement("time");
      const span = document.createElement("span");
      time.textContent = line.time ||= clock(line.t);
      if (line.text) span.textContent = line.text;
      else {
        span.className = "said"; span.append(`${say("heard")}: “${line.heard}” `);
        if (line.unsaid) { const s = document.createElement("s"); s.textContent = line.unsaid; span.append(s); }
      }
      li.append(time, span); return li;
    });
    if (made.length) $("events").replaceChildren(...made);
  }

  // ── drawing
  function measure() {
    const style = getComputedStyle(document.documentElement), scale = devicePixelRatio || 1;
    for (const name of ["ink", "soft", "line", "card", "owner", "box", "verdict", "bad", "idle",
      "listening", "thinking", "speaking", "holding", "muted", "failed"]) {
      colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
    canvas.width = Math.round(canvas.clientWidth * scale);
    canvas.height = Math.round(canvas.clientHeight * scale);
    ink.setTransform(scale, 0, 0, scale, 0, 0);
    $("spans").hidden = canvas.clientWidth >= NARROW_PX;
  }

  // ── time span of a narrow canvas, saved for the lifetime of the tab
  const spans = [...document.querySelectorAll("#spans button")];
  let narrowSpan = Number(spans[0].dataset.span);
  function choose(button) {
    narrowSpan = Number(button.dataset.span); lastDrawn = 0;
    for (const one of spans) one.setAttribute("aria-pressed", String(one === button));
  }
  for (const one of spans) {
    one.addEventListener("click", () => {
      choose(one);
      try { sessionStorage.setItem("span", one.dataset.span); } catch { /* no session storage */ }
    });
  }
  try {
    const kept = spans.find((one) => one.dataset.span === sessionStorage.getItem("span"));
    if (kept) choose(kept);
  } catch { /* no session storage */ }

  const loud = (db) => Math.max(0, Math.min(1, (db + 60) / 50)) ** 1.3;   // 0 at -60 dB
  function draw() {
    requestAnimationFrame(draw);
    if (offset === null || document.hidden) return;
    const stamp = performance.now();
    if (stamp - lastDrawn < (calm.matches ? 500 : 33)) return;   // 30 frames a second, 2 with reduced motion
    lastDrawn = stamp;
    minute.forget(now());
    const w = canvas.clientWidth, h = canvas.clientHeight, end = now() - 0.3;
    const narrow = w < NARROW_PX, span = narrow ? narrowSpan : WINDOW_S, x = (t) => w - 10 - ((end - t) / span) * (w - 10);
    const top = 30, lane = (h - top - 22) / 2, middles = [top + lane / 2 - 8, top + lane * 1.5 + 8];
    ink.clearRect(0, 0, w, h);
    ribbon(x, end, w);
    grid(x, end, span, narrow && span > 30 ? 10 : 5, w, h, top);
    blocks(x, end, top + lane + 24, lane - 32);
    wave(x, middles[0], lane * 0.36, "o", colours.owner);
    wave(x, middles[1], lane * 0.36, "b", colours.box);
    moments(x, w, h, top, lane);
    label(texts.you, 12, top + 16, colours.owner); label(texts.box, 12, h - 26, colours.box);
  }
  function label(text, at, y, colour) {
    ink.font = "600 13px system-ui, sans-serif"; ink.textAlign = "left"; ink.lineWidth = 4;
    ink.strokeStyle = colours.card; ink.strokeText(text, at, y); ink.fillStyle = colour; ink.fillText(text, at, y);
  }
  function ribbon(x, end, w) {
    ink.font = "600 12px system-ui, sans-serif"; ink.textAlign = "left";
    const { states } = minute;
    states.forEach((one, n) => {
      const from = Math.max(0, x(one.t)), to = Math.min(w, x(n + 1 < states.length ? states[n + 1].t : end + 1));
      if (to <= 0 || to <= from) return;
      ink.fillStyle = colours[one.state] || colours.idle; ink.fillRect(from, 0, to - from, 24);
      const text = texts.short[one.state];
      if (ink.measureText(text).width + 12 < to - from) { ink.fillStyle = colours.ink; ink.fillText(text, from + 6, 16); }
    });
  }
  function grid(x, end, span, step, w, h, top) {
    ink.font = "11px system-ui, sans-serif"; ink.textAlign = "center"; ink.lineWidth = 1;
    for (let t = Math.ceil((end - span) / step) * step; t < end; t += step) {
      ink.strokeStyle = colours.line; ink.beginPath(); ink.moveTo(x(t), top); ink.lineTo(x(t), h - 18); ink.stroke();
      ink.fillStyle = colours.soft;
      if (x(t) > 30 && x(t) < w - 30) ink.fillText(`−${Math.round(end - t)} s`, x(t), h - 5);
    }
  }
  function blocks(x, end, y, tall) {   // the spoken parts of an answer, and the part that was cut
    for (const a of minute.answers.values()) {
      ink.fillStyle = colours.speaking;
      for (const [from, to] of a.spans) ink.fillRect(x(from), y, Math.max(1, x(to) - x(from)), tall);
      if (a.open) ink.fillRect(x(a.open), y, Math.max(1, x(end) - x(a.open)), tall);
      if (a.cut && a.cut.left > 0.05) {
        const from = x(a.cut.t), wide = x(a.cut.t + a.cut.left) - from;
        ink.save(); ink.beginPath(); ink.rect(from, y, wide, tall); ink.clip();
        ink.strokeStyle = colours.box; ink.globalAlpha = 0.5; ink.lineWidth = 1.5;
        for (let n = -tall; n < wide; n += 8) { ink.beginPath(); ink.moveTo(from + n, y + tall); ink.lineTo(from + n + tall, y); ink.stroke(); }
        ink.restore();
      }
    }
  }
  function wave(x, middle, tall, key, colour) {
    ink.fillStyle = colour; ink.globalAlpha = 0.9;
    const wide = Math.max(1, x(0.04) - x(0)) + 0.4;
    for (const one of minute.levels) {
      const half = Math.max(0.6, loud(one[key]) * tall), at = x(one.t);
      if (at > -2) ink.fillRect(at, middle - half, wide, 2 * half);
    }
    ink.globalAlpha = 1;
  }
  function moments(x, w, h, top, lane) {
    const bottom = h - 20, y = top + lane, taken = [-99, -99, -99];
    const tags = [];
    for (const one of minute.marks) {
      const at = x(one.t);
      if (at < -60 || at > w) continue;
      if (one.k === "onset" && one.over) line(at, top, bottom, colours.owner, [2, 3]);
      else if (one.k === "pause") { line(at, top, bottom, colours.bad, []); if (one.ms !== null) tags.push([at, `${one.ms} ms`, colours.bad]); }
      else if (one.k === "resume") line(at, y, bottom, colours.owner, []);
      else if (one.k === "stop") line(at, y, bottom, colours.bad, []);
      else if (one.k === "verdict" && one.over) {
        line(at, top, bottom, colours.verdict, [5, 3]);
        const p = one.p === null ? "" : ` ${Math.round(100 * one.p)} %`;
        tags.push([at, `${texts.verdicts[one.kind]}${p} · ${one.age} ms`, colours.verdict]);
      }
    }
    for (const [at, text, colour] of tags.reverse()) {   // newest first; labels without space are left out
      ink.font = "600 11.5px system-ui, sans-serif";
      const wide = ink.measureText(text).width + 10, right = Math.min(at + 4 + wide, w - 2);
      const row = taken.findIndex((left) => left < 0 || right < left);
      if (row < 0) continue;
      taken[row] = right - wide; tag(right - wide, y - 10 + 15 * (row - 1), text, colour);
    }
  }
  function line(at, from, to, colour, dash) {
    ink.strokeStyle = colour; ink.lineWidth = 1.5; ink.setLineDash(dash);
    ink.beginPath(); ink.moveTo(at, from); ink.lineTo(at, to); ink.stroke(); ink.setLineDash([]);
  }
  function tag(at, y, text, colour) {
    ink.font = "600 11.5px system-ui, sans-serif"; ink.textAlign = "left";
    ink.lineWidth = 4; ink.strokeStyle = colours.card; ink.strokeText(text, at, y);
    ink.fillStyle = colour; ink.fillText(text, at, y);
  }

  // ── the connection
  function connect() {
    if (stream) stream.close();
    stream = new EventSource(`/events${$("words").checked ? "?words=1" : ""}`);
    lastHeard = performance.now();
    stream.onmessage = (message) => {
      lastHeard = performance.now();
      for (const event of JSON.parse(message.data)) take(event);
      minute.forget(now());   // a background tab gets no animation frames, so `draw` does not do it
    };
    stream.onerror = () => {
      $("hint").textContent = texts.lost; $("hint").hidden = false;
      if (stream.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
    };
  }

  // ── forms
  async function refusal(form) {   // send a form; returns why it was rejected, or ""
    const body = new URLSearchParams(new FormData(form)), headers = { Accept: "text/html" };
    try {
      const reply = await fetch("/do", { method: "POST", body, headers, redirect: "manual", signal: AbortSignal.timeout(PATIENCE_MS) });
      if (reply.type === "opaqueredirect") return "";   // accepted: a redirect to the page
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      return page.querySelector("main .why")?.textContent || texts.busy;
    } catch { return texts.offline; }
  }
  async function send(form, told, done) {   // `done`: text to show on success
    const mine = (sent.get(form) || 0) + 1;
    sent.set(form, mine); told.textContent = "";
    const why = await refusal(form);
    if (sent.get(form) !== mine) return why;
    told.classList.toggle("bad", why !== "");
    told.textContent = why ? fill(texts.refused, { why }) : done;
    return why;
  }
  async function set(id) {
    const field = $(id), value = field.value;
    const words = { percent: value, mode: field.selectedOptions?.[0].text, voice: value };
    const why = await send(field.form, $("told"), fill(texts.set[id], words));
    if (!why) so[id] = value;
    else if (field.value === value) put(id);
  }
  for (const id of ["volume", "mode", "voice"]) {
    if (!$(id)) continue;
    so[id] = $(id).value; $(id).addEventListener("change", () => set(id));
  }
  $("stop").form.addEventListener("submit", (event) => { event.preventDefault(); send($("stop").form, $("told-stop"), ""); });
  $("words-label").hidden = false;
  $("words").addEventListener("change", connect);
  $("hint").hidden = false;
  addEventListener("resize", measure);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", measure);
  addEventListener("pagehide", () => stream.close());
  addEventListener("pageshow", (event) => { if (event.persisted) connect(); });
  // The box sends its clock every 2 s. Without it for SILENT_MS the connection was lost without an
  // error, as by a network failure or a suspended computer: reconnect.
  setInterval(() => { if (stream.readyState === EventSource.OPEN && performance.now() - lastHeard > SILENT_MS) connect(); }, 5000);
  measure(); connect(); draw();
})();
