// Says what the box is for that looks organizations up: its label is of the select that it hides.
window.django?.jQuery(() => {
  const label = "filter-organization-label";
  for (const part of document.querySelectorAll(".organization-filter [role=combobox], .organization-filter [role=textbox]")) {
    part.setAttribute("aria-labelledby", part.id ? `${label} ${part.id}` : label);
  }
});
