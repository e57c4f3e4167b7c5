// A program around one of the SDKs' MCP clients: @modelcontextprotocol/sdk 1.x, or @modelcontextprotocol/client 2.x.
// It is given JSON as its argument, then one command a line, and answers each with a line. Where its user has to open
// a page, it says so and is told where they came back to.
import { createInterface } from "node:readline";

const given = JSON.parse(process.argv[2]);
const { Client, StreamableHTTPClientTransport, UnauthorizedError } =
  given.package === "client" ? await import("@modelcontextprotocol/client") : await firstGeneration();

async function firstGeneration() {
  const modules = ["client/index.js", "client/streamableHttp.js", "client/auth.js"];
  const loaded = await Promise.all(modules.map((module) => import(`@modelcontextprotocol/sdk/${module}`)));
  return Object.assign({}, ...loaded);
}

// What a program has around the SDK: a place for tokens, and a browser for its user.
class Provider {
  redirectUrl = given.redirectUri;
  clientMetadata = { client_name: "Test of an npm SDK", redirect_uris: [given.redirectUri] };
  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.stored;
  saveTokens = (tokens) => void (this.stored = tokens);
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  discoveryState = () => this.discovered;
  saveDiscoveryState = (state) => void (this.discovered = state);
  state = () => "a-state-that-comes-back";
  redirectToAuthorization = (address) => void (this.address = address);
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (message) => console.log(JSON.stringify(message));
const hear = async () => {
  const { value, done } = await lines.next();
  return done ? { do: "leave" } : JSON.parse(value);
};

const provider = new Provider();
let client, transport;

// An SDK refuses with UnauthorizedError once it has told the provider which page its user has to open.
async function asUser(action) {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      say({ visit: provider.address.href });
      const answer = new URL((await hear()).cameBack).searchParams;
      if (answer.get("state") !== provider.state()) throw new Error("Another state came back.");
      await (given.package === "client" ? transport.finishAuth(answer) : transport.finishAuth(answer.get("code")));
    }
  }
}

const commands = {
  connect: () =>
    asUser(async () => {
      transport = new StreamableHTTPClientTransport(new URL(given.address), { authProvider: provider });
      client = new Client({ name: "test", version: "1" }, given.mode ? { versionNegotiation: { mode: given.mode } } : {});
      await client.connect(transport);
      return client.getServerVersion();
    }),
  list: () => asUser(() => client.listTools()),
  resources: () => asUser(() => client.listResources()),
  read: ({ uri }) => asUser(() => client.readResource({ uri })),
  call: ({ name, arguments: input }) => asUser(() => client.callTool({ name, arguments: input })),
};

for (let command = await hear(); command.do !== "leave"; command = await hear()) {
  try {
    say({ result: await commands[command.do](command) });
  } catch (error) {
    say({ error: `${error.constructor.name}: ${error.message}` });
  }
}
await client?.close();
process.exit(0);
