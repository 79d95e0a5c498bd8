"use strict";
// What textual.js leaves to the page: where to connect to, the keyboard, and how it ends.

const STOPPED = "ktui web has stopped. Start it again, and open the address that it prints.";
const FONT_SIZES = { least: 8, usual: 16, most: 40 };

const terminal = document.getElementById("terminal");
const again = document.getElementById("again");

const wanted = Number.parseInt(new URLSearchParams(location.search).get("fontsize"), 10);
const size = Number.isNaN(wanted) ? FONT_SIZES.usual : wanted;
terminal.dataset.fontSize = Math.min(Math.max(size, FONT_SIZES.least), FONT_SIZES.most);
// By the name and port that the page was asked by: they differ behind `ssh -L`.
terminal.dataset.sessionWebsocketUrl = `${location.origin.replace(/^http/, "ws")}/ws`;

function focusTerminal() {
  terminal.querySelector(".xterm-helper-textarea")?.focus();
}

function onState() {
  if (document.body.classList.contains("-closed")) {
    again.focus();
  } else if (document.body.classList.contains("-first-byte")) {
    focusTerminal();
  }
}

new MutationObserver(onState).observe(document.body, { attributeFilter: ["class"] });
window.addEventListener("focus", onState);

// xterm.js would send ^V: here it pastes, as anywhere else in a browser.
window.addEventListener("keydown", (event) => {
  if (event.ctrlKey && !event.altKey && event.key.toLowerCase() === "v") {
    event.stopImmediatePropagation();
  }
}, true);

again.addEventListener("click", () => {
  fetch("/page/icon.svg", { cache: "no-store" }).then(
    () => location.reload(),
    () => { document.getElementById("why").textContent = STOPPED; },
  );
});
