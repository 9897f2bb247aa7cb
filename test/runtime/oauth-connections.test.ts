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
import { type Office, openOffice, peopleLogIn, signIn } from "./support/protected-mcp.js";

afterEach(() => {
  vi.useRealTimers();
});

/** Somebody logs in to the server, as `bdk mcp oauth office` lets them. */
async function logIn({ mcp }: Office): Promise<Login> {
  const callback = await openCallback(0);
  try {
    return await login({
      url: mcp.url,
      clientName: "test",
      callback,
      signal: AbortSignal.timeout(20_000),
      show: async (page) => {
        const landed = await signIn(page.href);
        // As a browser: the flow waits for this request, and this request for the flow.
        void fetch(landed);
      },
    });
  } finally {
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

test("a damaged login is told, not used", async () => {
  const { host, logins } = await openDesk();
  logins.write("office", { formatVersion: 1 } as Login);
  const { body } = await call(`${host.base}/v1/tools`);
  expect(JSON.stringify(body.connectionErrors)).toContain("the stored login is damaged: run bdk mcp oauth office");
});
