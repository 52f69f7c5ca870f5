// Runs before the page is drawn, so that a chosen theme does not flash.
"use strict";
(() => {
  let stored = null;
  try {
    stored = localStorage.getItem("subword-theme");
  } catch {
    // Storage may be forbidden; the page works without.
  }
  const asked = new URLSearchParams(location.hash.split("?")[1] || "").get("theme");
  const theme = asked || stored;
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
