// The volume's number while the slider is moved. Without this the page shows it as it came.
"use strict";
document.getElementById("volume").addEventListener("input", (event) => {
  document.getElementById("volume-percent").textContent = `${event.target.value} %`;
});
