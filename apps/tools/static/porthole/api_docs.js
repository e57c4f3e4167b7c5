// Shows openapi.json with Swagger UI. A file of its own, because the page allows no script inside its markup.
"use strict";

// The document names the public address; whoever reads it under another one (127.0.0.1 for localhost, a tunnel)
// still asks the server that the page came from, the only one that the page may reach.
const HereOnly = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (update) => (document) =>
          update({ ...document, servers: [{ url: window.location.origin }] }),
      },
    },
  },
});

// Swagger UI has a dark face, but does not ask the browser which one is wanted.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

SwaggerUIBundle({
  url: document.getElementById("reference").dataset.openapi,
  dom_id: "#reference",
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [HereOnly],
  layout: "BaseLayout",
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  docExpansion: "list",
  validatorUrl: null,
});
