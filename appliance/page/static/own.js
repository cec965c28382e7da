// Counts down the timers. Without this script the page shows the time left when it was loaded.
"use strict";
const timers = [...document.querySelectorAll("[data-left]")].map((field) => [field, Number(field.dataset.left)]);
const two = (number) => String(number).padStart(2, "0");

function show() {
  for (const [field, atFirst] of timers) {
    const left = Math.max(0, Math.round(atFirst - performance.now() / 1000));
    field.textContent = `${Math.floor(left / 3600)}:${two(Math.floor(left / 60) % 60)}:${two(left % 60)}`;
  }
}

if (timers.length) setInterval(show, 1000);
