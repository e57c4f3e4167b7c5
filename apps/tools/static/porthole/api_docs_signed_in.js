// Hands the answer of the authorization server to the API reference that opened this window. Swagger UI leaves there,
// as `swaggerUIRedirectOauth2`, what it asked for and whom to tell.
"use strict";

const answer = new URLSearchParams(window.location.search);
// The code stays in no history.
window.history.replaceState(null, "", window.location.pathname);

function asked() {
  try {
    return window.opener?.swaggerUIRedirectOauth2;
  } catch {
    return undefined; // a page of another origin opened this window
  }
}

function problemWith(request) {
  if (answer.get("state") !== request.state) return "This answer belongs to another sign-in. Try once more.";
  // RFC 9207 §2.4: every answer of Porthole says whose it is.
  if (answer.get("iss") !== window.location.origin) return "This answer comes from somewhere else. Try once more.";
  if (answer.get("error") === "access_denied") return "You did not let the API reference in.";
  if (answer.has("error")) return `Signing in did not work: ${answer.get("error_description") ?? answer.get("error")}`;
  return answer.get("code") ? null : "Signing in did not work: no code came back. Try once more.";
}

function hand(request) {
  const { auth, redirectUrl } = request;
  const message = problemWith(request);
  if (message) {
    request.errCb({ authId: auth.name, source: "auth", level: "error", message });
  } else {
    auth.code = answer.get("code");
    request.callback({ auth, redirectUrl });
  }
}

const request = asked();
if (request) {
  delete window.opener.swaggerUIRedirectOauth2; // one answer for each time it asks
  hand(request);
  window.close();
}
