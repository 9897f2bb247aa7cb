/** Tokens of logins at work: renewed when they are used, by one call at a time, and what is said when a login has ended. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { openCallback } from "../../cli/mcp/callback.js";
import { login } from "../../cli/mcp/login.js";
import type { Login, Logins } from "../../runtime/connections/logins.js";
import { openLogins } from "../../runtime/storage/login-store.js";
import { connectedBundle } from "./support/connections.js";
import { call, startHost, type TestHost, temporaryFolder } from "./support/host.js";
import { listen } from "./support/mcp-servers.js";
import { type Office, openOffice, peopleLogIn, signIn } from "./support/protected-mcp.js";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** Somebody logs in to the server, as `bdk mcp oauth office` lets them; `change` is what befalls the redirect. */
async function logIn({ mcp }: Pick<Office, "mcp">, change: (redirect: URL) => void = () => undefined): Promise<Login> {
  const callback = await openCallback(0);
  let shown: Promise<unknown> = Promise.resolve();
  try {
    return await login({
      url: mcp.url,
      clientName: "test",
      callback,
      signal: AbortSignal.timeout(20_000),
      show: async (page) => {
        const landed = new URL(await signIn(page.href));
        change(landed);
        // As a browser: the flow waits for this request, and this request for the flow.
        shown = fetch(landed).then((page) => page.text());
        shown.catch(() => undefined); // told below
      },
    });
  } finally {
    await shown;
    callback.close();
  }
}

interface Desk {
  readonly office: Office;
  readonly host: TestHost;
  readonly logins: Logins;
  /** Calls the server's tool directly. */
  say(): Promise<Record<string, unknown>>;
  /** How many tokens the authorization server was asked for. */
  renewals(): number;
}

/** A server behind a login, an agent that is logged in to it, and no token asked for since. */
async function openDesk(lifetimeS = 600): Promise<Desk> {
  const office = await openOffice({ configuration: await peopleLogIn(lifetimeS) });
  const stateRoot = temporaryFolder();
  const logins = openLogins(stateRoot, "tester");
  logins.write("office", await logIn(office));
  const asked = () => office.authorization.requests.filter((request) => request === "POST /token").length;
  const before = asked();
  const host = await startHost(
    connectedBundle({
      mcp: { office: { url: office.mcp.url, oauth: true, advertiseTools: true, readTools: ["say"] } },
    }),
    { stateRoot },
  );
  return {
    office,
    host,
    logins,
    say: async () => (await call(`${host.base}/v1/tools/office__say`, { body: { input: { text: "hi" } } })).body,
    renewals: () => asked() - before,
  };
}

const worked = { isError: false, result: expect.anything() };

/** Lets `ms` pass for whoever asks what time it is: here and in the authorization server. */
function pass(ms: number): void {
  if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(Date.now() + ms);
}

test("a login's token goes with every request; the stored file is private", async () => {
  const { office, host, say, renewals } = await openDesk();
  expect(await say()).toMatchObject(worked);
  expect(renewals()).toBe(0);
  const authorized = office.mcp.requests.filter(({ headers }) => headers.authorization !== undefined);
  expect(authorized.length).toBeGreaterThan(0);
  expect(statSync(join(host.stateRoot, ".oauth/tester/office.json")).mode & 0o777).toBe(0o600);
});

test("a token about to run out is renewed before it is used, once for any number of calls", async () => {
  const { host, logins, say, renewals } = await openDesk(60);
  const first = logins.read("office");
  expect(await say()).toMatchObject(worked);
  pass(45_000);
  const answers = await Promise.all(Array.from({ length: 12 }, say));
  for (const answer of answers) expect(answer).toMatchObject(worked);
  expect(renewals()).toBe(1);
  const second = logins.read("office");
  // Rotated: the old refresh token is spent.
  expect(second?.tokens.refresh_token).not.toBe(first?.tokens.refresh_token);
  expect(second?.tokens.access_token).not.toBe(first?.tokens.access_token);
  expect(Date.parse(second?.expiresAt ?? "")).toBeGreaterThan(Date.parse(first?.expiresAt ?? ""));
  pass(55_000);
  expect(await say()).toMatchObject(worked);
  expect(renewals()).toBe(2);
  const shown = JSON.stringify([host.lines, (await call(`${host.base}/v1/info`)).body]);
  for (const tokens of [first?.tokens, second?.tokens]) {
    expect(shown).not.toContain(tokens?.access_token);
    expect(shown).not.toContain(tokens?.refresh_token);
  }
});

test("a token that is refused early is renewed, too; one that is refused again says which command helps", async () => {
  const { office, host, say, renewals } = await openDesk();
  expect(await say()).toMatchObject(worked);
  office.mcp.distrust(true);
  const refused = await say();
  expect(refused.isError).toBe(true);
  expect(renewals()).toBe(1);
  expect(JSON.stringify(refused.result)).toContain("run bdk mcp oauth office");
  office.mcp.distrust(false);
  pass(61_000);
  expect(await say()).toMatchObject(worked);
  expect((await call(`${host.base}/v1/tools`)).body.connectionErrors).toEqual([]);
});

test("a login that was revoked: the listing and the call say so, and the next login counts at once", async () => {
  const { office, host, logins, say } = await openDesk(60);
  const login = logins.read("office");
  if (login === undefined) throw new Error("nobody is logged in");
  const { client, tokens } = login;
  await fetch(`${office.authorization.issuer}/token/revocation`, {
    method: "POST",
    body: new URLSearchParams({ token: tokens.refresh_token ?? "", client_id: client.client_id }),
  });
  pass(61_000);
  const refused = await say();
  expect(refused.isError).toBe(true);
  expect(JSON.stringify(refused.result)).toContain("run bdk mcp oauth office");
  const { body } = await call(`${host.base}/v1/tools`);
  expect(body.connectionErrors).toEqual([
    {
      connection: "office",
      code: "connection_unauthorized",
      message: expect.stringContaining("run bdk mcp oauth office"),
    },
  ]);
  expect(logins.read("office")).toBeUndefined();
  const told = JSON.stringify([host.lines, body, refused]);
  expect(told).not.toContain(tokens.access_token);
  expect(told).not.toContain(tokens.refresh_token);

  logins.write("office", await logIn(office));
  pass(61_000);
  expect(await say()).toMatchObject(worked);
});

test("while the authorization server is away the login stays, and what is left of the token is used", async () => {
  const { office, host, logins, say } = await openDesk(60);
  expect(await say()).toMatchObject(worked);
  office.authorization.away(true);
  pass(45_000);
  // The server checks tokens with keys that it has already.
  expect(await say()).toMatchObject(worked);
  pass(30_000);
  const refused = await say();
  expect(refused.isError).toBe(true);
  expect(JSON.stringify(refused.result)).toContain("can't be renewed by the authorization server");
  expect(logins.read("office")).toBeDefined();
  office.authorization.away(false);
  pass(61_000);
  expect(await say()).toMatchObject(worked);
  expect((await call(`${host.base}/v1/tools`)).body.connectionErrors).toEqual([]);
});

test("tokens go to the server that somebody logged in to, and to no other", async () => {
  const { office, logins } = await openDesk();
  const elsewhere = await openOffice();
  const host = await startHost(
    connectedBundle({ mcp: { office: { url: elsewhere.mcp.url, oauth: true, advertiseTools: true } } }),
  );
  const login = logins.read("office");
  if (login === undefined) throw new Error("nobody is logged in");
  openLogins(host.stateRoot, "tester").write("office", login);
  const { body } = await call(`${host.base}/v1/tools`);
  expect(JSON.stringify(body.connectionErrors)).toContain("run bdk mcp oauth office");
  const carried = elsewhere.mcp.requests.filter(({ headers }) => headers.authorization !== undefined);
  expect([carried, office.mcp.url === elsewhere.mcp.url]).toEqual([[], false]);
});

test("a login ends where its answer can't be trusted, before any code is used", async () => {
  const office = await openOffice();
  const cases: readonly [(redirect: URL) => void, string][] = [
    [({ searchParams }) => searchParams.set("iss", "https://evil.example"), "came from another issuer"],
    [({ searchParams }) => searchParams.set("iss", `${office.authorization.issuer}/`), "came from another issuer"],
    [({ searchParams }) => searchParams.delete("iss"), "came from another issuer"],
    [({ searchParams }) => searchParams.delete("code"), "sent no code"],
    [({ searchParams }) => searchParams.set("error", "<b>words</b> of evil"), "answered an error"],
  ];
  for (const [change, reason] of cases) await expect(logIn(office, change)).rejects.toThrow(reason);
  expect(office.authorization.requests).not.toContain("POST /token");
  await expect(logIn(office, ({ searchParams }) => searchParams.set("code", "made-up"))).rejects.toThrow(
    "invalid_grant",
  );
  expect((await logIn(office)).tokens.access_token).toBeTruthy();
});

test("a login does not begin where it would not be safe", async () => {
  const metadata = (change: Record<string, unknown>) =>
    listen((request, response, body) => {
      const origin = `http://${request.headers.host}`;
      const isResource = request.url?.startsWith("/.well-known/oauth-protected-resource") === true;
      const isServer = request.url?.startsWith("/.well-known/oauth-authorization-server") === true;
      if (request.url === "/register") {
        response.writeHead(201, { "content-type": "application/json" });
        return response.end(JSON.stringify({ ...(body as object), client_id: "registered" }));
      }
      if (!isResource && !isServer) return response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      const told = isResource
        ? { resource: `${origin}/mcp`, authorization_servers: [origin] }
        : {
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
            registration_endpoint: `${origin}/register`,
            response_types_supported: ["code"],
            code_challenge_methods_supported: ["S256"],
            ...change,
          };
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify(told));
    });
  const refused = async (server: { readonly url: string }, reason: string) => {
    const mcp = { url: `${new URL(server.url).origin}/mcp` } as Office["mcp"];
    await expect(logIn({ mcp })).rejects.toThrow(reason);
  };
  await refused(await metadata({ code_challenge_methods_supported: undefined }), "takes PKCE");
  await refused(await metadata({ code_challenge_methods_supported: ["plain"] }), "takes PKCE");
  await refused(await metadata({ registration_endpoint: undefined }), "pass --client-id");
  await refused(
    await metadata({ authorization_endpoint: "http://evil.example/authorize" }),
    "login page is not an https URL",
  );
  await refused(await metadata({ issuer: "https://evil.example" }), "metadata is of another issuer");
});

test("a deployment may bring a login in its environment; from then on the renewed one counts", async () => {
  const office = await openOffice();
  const { tokens, client } = await logIn(office);
  vi.stubEnv("MCP_OAUTH_PLAIN_ACCESS_TOKEN", tokens.access_token);
  vi.stubEnv("MCP_OAUTH_OLD_ACCESS_TOKEN", "of-last-year");
  vi.stubEnv("MCP_OAUTH_OFFICE_REFRESH_TOKEN", tokens.refresh_token ?? "");
  vi.stubEnv("MCP_OAUTH_OFFICE_CLIENT_ID", client.client_id);
  const connection = { url: office.mcp.url, oauth: true, advertiseTools: true };
  const bundle = connectedBundle({ mcp: { office: connection, plain: connection, old: connection } });
  const first = await startHost(bundle);
  const say = async (base: string, name = "office") =>
    (await call(`${base}/v1/tools/${name}__say`, { body: { input: {} } })).body;
  expect(await say(first.base, "plain")).toMatchObject(worked);
  expect(JSON.stringify(await say(first.base, "old"))).toContain("to log in again, run bdk mcp oauth old");
  expect(await say(first.base)).toMatchObject(worked);
  const renewed = openLogins(first.stateRoot, "tester").read("office")?.tokens;
  expect(renewed?.refresh_token).not.toBe(tokens.refresh_token);
  await first.close();
  // The refresh token of the environment is spent by now.
  const second = await startHost(bundle, { stateRoot: first.stateRoot });
  expect(await say(second.base)).toMatchObject(worked);
  vi.stubEnv("MCP_OAUTH_OFFICE_ISSUER", "https://login.example");
  const third = await startHost(bundle);
  expect(JSON.stringify(await say(third.base))).toContain("names another authorization server");
  expect(JSON.stringify([first.lines, second.lines])).not.toContain(tokens.refresh_token);
});

test("a server that asks for tokens of another one gets none, by login or from the environment", async () => {
  const office = await openOffice({ claimed: "https://bank.example/mcp" });
  await expect(logIn(office)).rejects.toThrow("bank.example/mcp does not match");
  vi.stubEnv("MCP_OAUTH_OFFICE_REFRESH_TOKEN", "of-somebody");
  vi.stubEnv("MCP_OAUTH_OFFICE_CLIENT_ID", "by-hand");
  const mcp = { office: { url: office.mcp.url, oauth: true, advertiseTools: true } };
  const { body } = await call(`${(await startHost(connectedBundle({ mcp }))).base}/v1/tools/office__say`, { body: {} });
  expect(JSON.stringify(body)).toContain("asks for tokens that are for another server");
  expect(office.authorization.requests).not.toContain("POST /token");
});

test("a damaged login is told, not used", async () => {
  const { host, logins } = await openDesk();
  logins.write("office", { formatVersion: 1 } as Login);
  const { body } = await call(`${host.base}/v1/tools`);
  expect(JSON.stringify(body.connectionErrors)).toContain("the stored login is damaged: run bdk mcp oauth office");
});
