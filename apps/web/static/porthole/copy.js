// A button to copy beside each block that says so, where the browser lets pages write to the clipboard.
"use strict";

function addButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    let word = "Copied";
    try {
      await navigator.clipboard.writeText(block.querySelector("code").textContent);
    } catch {
      word = "Not copied";
    }
    button.textContent = word;
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  button.setAttribute("aria-live", "polite");
  block.append(button);
}

if (navigator.clipboard) document.querySelectorAll(".copyable").forEach(addButton);
