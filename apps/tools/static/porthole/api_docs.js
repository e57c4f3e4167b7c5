// Shows openapi.json with Swagger UI. A file of its own, because the page allows no script inside its markup.
"use strict";

const reference = document.getElementById("reference");
const here = window.location.origin;
// Signing in ends at the public address, and only a page of the same origin may be told how it ended.
const isPublicAddress = here === reference.dataset.issuer;

// The document names the public address; whoever reads it under another one (127.0.0.1 for localhost, a tunnel)
// still asks the server that the page came from, the only one that the page may reach.
function fromHere(document) {
  const { oauth2, ...others } = document.components.securitySchemes;
  const securitySchemes = isPublicAddress ? { oauth2, ...others } : others;
  return { ...document, servers: [{ url: here }], components: { ...document.components, securitySchemes } };
}

const HereOnly = () => ({
  statePlugins: {
    spec: { wrapActions: { updateJsonSpec: (update) => (document) => update(fromHere(document)) } },
  },
});

// The dialog of "Authorize" would scroll down to its last field, past the way to sign in.
const FocusNothing = ({ React }) => ({
  wrapComponents: { Input: (Input) => (props) => React.createElement(Input, { ...props, autoFocus: false }) },
});

if (!isPublicAddress) {
  const elsewhere = document.getElementById("elsewhere");
  const link = elsewhere.querySelector("a");
  link.textContent = link.href = reference.dataset.issuer + window.location.pathname;
  elsewhere.hidden = false;
}

// Swagger UI has a dark face, but does not ask the browser which one is wanted.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

SwaggerUIBundle({
  url: reference.dataset.openapi,
  dom_id: "#reference",
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [HereOnly, FocusNothing],
  layout: "BaseLayout",
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  docExpansion: "list",
  oauth2RedirectUrl: `${here}/api/v1/docs/signed-in`,
  // The one GET is a page for people, not a call.
  supportedSubmitMethods: ["post"],
  validatorUrl: null,
}).initOAuth({
  clientId: "porthole-docs",
  scopes: reference.dataset.scopes,
  usePkceWithAuthorizationCodeGrant: true,
});
