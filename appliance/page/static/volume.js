// Shows the volume while the slider is moved. Without this script it shows the loaded value.
"use strict";
document.getElementById("volume").addEventListener("input", (event) => {
  document.getElementById("volume-percent").textContent = `${event.target.value} %`;
});
