// Connects with the TypeScript SDK of one era, authorizes, calls a tool, and
// prints what it got. The address of the authorization request goes to standard
// output; the address of the callback comes from standard input.
import { createInterface } from "node:readline/promises";

const [era, address, tool, argument] = process.argv.slice(2);
const callback = "http://127.0.0.1:33418/callback"; // nothing listens: it is read from standard input

async function load() {
  if (era === "2026-07-28") {
    const { Client, StreamableHTTPClientTransport, UnauthorizedError } = await import("@modelcontextprotocol/client");
    return { Client, StreamableHTTPClientTransport, UnauthorizedError, options: { versionNegotiation: { mode: { pin: era } } } };
  }
  const [{ Client }, { StreamableHTTPClientTransport }, { UnauthorizedError }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/client/auth.js"),
  ]);
  return { Client, StreamableHTTPClientTransport, UnauthorizedError, options: {} };
}

const { Client, StreamableHTTPClientTransport, UnauthorizedError, options } = await load();
const input = createInterface({ input: process.stdin });
const lines = input[Symbol.asyncIterator]();
const kept = {};
let state;
const authProvider = {
  redirectUrl: callback,
  clientMetadata: {
    client_name: `TypeScript client ${era}`,
    redirect_uris: [callback],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => (state = crypto.randomUUID()),
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (discovery) => { kept.discovery = discovery; },
  redirectToAuthorization: (url) => console.log(JSON.stringify({ authorize: url.href })),
};

const connect = () => new StreamableHTTPClientTransport(new URL(address), { authProvider });
const client = () => new Client({ name: "adlens-test", version: "1" }, options);
let connected = client();
let transport = connect();
try {
  await connected.connect(transport);
  throw new Error("connected without a token");
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
const { searchParams } = new URL((await lines.next()).value);
if (searchParams.get("state") !== state) throw new Error("the callback has another state");
await (era === "2026-07-28" ? transport.finishAuth(searchParams) : transport.finishAuth(searchParams.get("code")));

connected = client();
transport = connect();
await connected.connect(transport);
const { tools } = await connected.listTools();
const result = await connected.callTool({ name: tool, arguments: JSON.parse(argument) });
const protocol = connected.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion;
console.log(JSON.stringify({ result: { ...result, protocol, tools: tools.map((t) => t.name) } }));
await connected.close();
input.close();
