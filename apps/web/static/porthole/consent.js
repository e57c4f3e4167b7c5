// A click that was meant for another window, which closed in that moment, must not allow anything: after this window
// came to the front, Allow waits for half a second.
"use strict";

const allow = document.querySelector("[name=decision][value=allow]");
let timer;

function wait() {
  clearTimeout(timer);
  allow.disabled = true;
  timer = setTimeout(() => { allow.disabled = false; }, 500);
}

if (allow) {
  wait();
  addEventListener("focus", wait);
  addEventListener("pageshow", wait);
  document.addEventListener("visibilitychange", wait);
}
