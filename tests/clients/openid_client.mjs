// One program that lets itself in with openid-client. It is given JSON as its argument, writes the address that its
// user has to open, reads the address that they came back to, and writes what happened.
import * as client from "openid-client";
import { createInterface } from "node:readline/promises";

const given = JSON.parse(process.argv[2]);
const authentication = {
  none: client.None,
  client_secret_basic: client.ClientSecretBasic,
  client_secret_post: client.ClientSecretPost,
}[given.method];

// The test's server is on this machine, without TLS.
const options = { algorithm: given.algorithm, execute: [client.allowInsecureRequests] };
const metadata = {
  client_name: "openid-client",
  redirect_uris: [given.redirectUri],
  token_endpoint_auth_method: given.method,
};
const config = await client.dynamicClientRegistration(new URL(given.issuer), metadata, authentication(), options);

const pkceCodeVerifier = client.randomPKCECodeVerifier();
const expectedState = client.randomState();
const address = client.buildAuthorizationUrl(config, {
  redirect_uri: given.redirectUri,
  scope: "account:read apps:read",
  resource: given.resource,
  state: expectedState,
  code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: "S256",
});
console.log(address.href);

const user = createInterface({ input: process.stdin });
const cameBack = (await user[Symbol.asyncIterator]().next()).value;
user.close();

// Checks state, and by RFC 9207 the issuer.
const checks = { pkceCodeVerifier, expectedState };
const first = await client.authorizationCodeGrant(config, new URL(cameBack), checks, { resource: given.resource });
const ask = async (token) => {
  const headers = new Headers({ "content-type": "application/json" });
  try {
    return await client.fetchProtectedResource(config, token, new URL(given.tool), "POST", "{}", headers);
  } catch (error) {
    if (error.status === undefined) throw error;
    return error; // a challenge; it has the answer's status
  }
};
const answer = await (await ask(first.access_token)).json();
const second = await client.refreshTokenGrant(config, first.refresh_token, { resource: given.resource });
const afterRefresh = (await ask(second.access_token)).status;
await client.tokenRevocation(config, second.refresh_token, { token_type_hint: "refresh_token" });

console.log(
  JSON.stringify({
    method: config.clientMetadata().token_endpoint_auth_method,
    scope: first.scope,
    organization: answer.organization.slug,
    isRefreshed: second.access_token !== first.access_token && second.refresh_token !== first.refresh_token,
    afterRefresh,
    afterRevocation: (await ask(second.access_token)).status,
  }),
);
