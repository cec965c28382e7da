// The tests: updates the meters from events, and replaces the cards that have changed. Without this
// script the page reloads every two seconds while a test is under way.
"use strict";
(() => {
  const one = (id) => document.getElementById(id);
  document.body.classList.add("live");

  let asked = false, again = false;
  const renew = async () => {
    if (asked) { again = true; return; }
    asked = true;
    try {
      const reply = await fetch(location.pathname, { credentials: "same-origin" });
      if (reply.ok && !reply.redirected) {
        const page = new DOMParser().parseFromString(await reply.text(), "text/html");
        const focus = document.activeElement && document.activeElement.closest("section")?.id;
        for (const fresh of page.querySelectorAll("main section[id]")) {
          const old = one(fresh.id);
          if (!old || shape(old) === shape(fresh)) continue;
          for (const meter of fresh.querySelectorAll("meter")) meter.value = one(meter.id)?.value ?? meter.value;
          old.replaceWith(document.importNode(fresh, true));
        }
        if (focus && document.activeElement === document.body) one(focus)?.querySelector("button")?.focus();
      }
    } catch { /* retried at the next event */ }
    asked = false;
    if (again) { again = false; renew(); }
  };
  // Content of a card without its meters, which are updated by events.
  const shape = (card) => { const copy = card.cloneNode(true); copy.querySelectorAll("meter").forEach((m) => m.remove()); return copy.innerHTML; };

  const set = (id, value) => { const meter = one(id); if (meter) meter.value = value; };
  const handlers = {
    levels: (e) => set("level", Math.max(...e.o)),
    score: (e) => { set("score", e.p); const meter = one("score"); if (meter) meter.high = e.over; },
    trial: renew,
  };
  const stream = new EventSource("/events");
  stream.onmessage = (message) => { for (const event of JSON.parse(message.data)) handlers[event.k]?.(event); };
  stream.onopen = renew;

  // A form leads back to this page: send it without navigation, so that the meters stay live.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.getAttribute("action") !== location.pathname) return;
    event.preventDefault();
    const words = new URLSearchParams(new FormData(form, event.submitter));
    fetch(location.pathname, { method: "POST", body: words, credentials: "same-origin" }).then(renew, renew);
  });
  setInterval(() => { if (document.querySelector(".pulse")) renew(); }, 2000);
})();
