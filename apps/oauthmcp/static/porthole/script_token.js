// Copies a token that is shown once, and leaves nothing of it to a page that the browser keeps for going back.
"use strict";

const token = document.getElementById("token");
const copied = document.getElementById("copied");

if (navigator.clipboard) {
  document.getElementById("copying").hidden = false;
  document.getElementById("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(token.textContent);
      copied.textContent = "Copied.";
    } catch {
      copied.textContent = "Your browser did not allow it: mark the token, and copy it yourself.";
    }
  });
}

addEventListener("pagehide", () => {
  token.textContent = "It was shown once.";
});
