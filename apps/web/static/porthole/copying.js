// Copies what a field holds, for buttons with data-copy, and takes what is shown once off a page that is left.
"use strict";

function tell(button, words) {
  const status = button.closest("[data-once]")?.querySelector("[role=status]");
  if (status) status.textContent = words;
}

async function copy(button, field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    // Without https, or where the browser forbids it: what is selected can still be copied by hand.
    return tell(button, "Press Ctrl+C (⌘C on a Mac) to copy it.");
  }
  tell(button, "Copied.");
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button, document.getElementById(button.dataset.copy)));
}

// A browser may keep the page as it is for its back button, whatever Cache-Control says.
window.addEventListener("pagehide", () => {
  for (const shown of document.querySelectorAll("[data-once]")) shown.remove();
});
