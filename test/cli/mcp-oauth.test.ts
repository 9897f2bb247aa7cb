/** `bdk mcp oauth` against an independent authorization server: from the page to a tool call, and to its end. */
import { readFileSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Office, openOffice, peopleLogIn, signIn } from "../runtime/support/protected-mcp.js";
import { bdk, type Running, startBdk, temporaryFolder } from "./bdk.js";
import { writeProject } from "./dev-project.js";

/** A project with one connection, `office`, to the server. */
async function projectFor(url: string, more = ""): Promise<string> {
  const dir = await temporaryFolder();
  await writeProject(dir, {
    "package.json": '{"name":"clerk","private":true,"type":"module"}\n',
    "bot/agent.ts": 'import { defineAgent } from "@cursor/bdk";\n\nexport default defineAgent({ model: "offline" });\n',
    "bot/instructions.md": "Be brief.\n",
    "bot/mcp-connections/office.ts": `import { defineConnection } from "@cursor/bdk/connections";

export default defineConnection({ url: ${JSON.stringify(url)}, oauth: true, advertiseTools: true${more} });
`,
  });
  return dir;
}

const events = (running: Running) => (name: string) =>
  running.line((line) => {
    const event = line.startsWith("{") ? (JSON.parse(line) as Record<string, string>) : {};
    return event.event === name ? event : undefined;
  });

/** Begins a login and gives the page to log in at. */
async function begin(dir: string, flags: readonly string[] = []) {
  const running = await startBdk(["mcp", "oauth", "office", "--dir", dir, "--json", ...flags]);
  const event = events(running);
  const { url = "" } = await event("authorize");
  return { running, event, page: url };
}

/** Logs in, as a person with a browser does. */
async function logIn(dir: string, flags: readonly string[] = []) {
  const { running, event, page } = await begin(dir, flags);
  const landed = await fetch(await signIn(page));
  return { running, page, landed, done: await event("logged-in") };
}

/** What a login that did not work out is told as: like its events, one line. */
async function failureOf(running: Running): Promise<string> {
  const told = await running.line((line) => (line.includes("BDK8018") ? line : undefined));
  expect(JSON.parse(told)).toMatchObject({ ok: false, diagnostics: [{ code: "BDK8018" }] });
  return running.lines.join("\n") + running.stderr();
}

const fileOf = (dir: string) => join(dir, ".bdk/.oauth/clerk/office.json");
const stored = (dir: string) => JSON.parse(readFileSync(fileOf(dir), "utf8"));

/** The connection's tools as a server of the project lists them. */
async function listing(dir: string): Promise<{ tools: { name: string }[]; connectionErrors: { message: string }[] }> {
  const server = await startBdk(["serve", "--dir", dir, "--port", "0", "--mode", "single", "--json"]);
  const { url } = await events(server)("listening");
  const answer = await (await fetch(`${url}/v1/tools`)).json();
  await server.interrupt();
  return answer as never;
}

/** Everything that a login stores, printed nowhere. */
function expectSecret(dir: string, ...texts: string[]): void {
  const { tokens } = stored(dir);
  for (const text of texts) {
    expect(text).not.toContain(tokens.access_token);
    expect(text).not.toContain(tokens.refresh_token);
  }
}

test("a login from discovery to the tool: registered, PKCE, state, resource; stored privately, printed nowhere", async () => {
  const office = await openOffice();
  const dir = await projectFor(office.mcp.url);
  expect((await listing(dir)).connectionErrors[0]?.message).toContain("run bdk mcp oauth office");

  const { running, page, landed, done } = await logIn(dir);
  const asked = new URL(page).searchParams;
  expect(asked.get("code_challenge_method")).toBe("S256");
  expect(asked.get("code_challenge")).toMatch(/^[\w-]{43}$/);
  expect(asked.get("state")).toMatch(/^[\w-]{43}$/);
  expect(asked.get("resource")).toBe(office.mcp.url);
  expect(asked.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect(asked.get("scope")).toContain("mcp");
  expect(office.authorization.requests).toContain("POST /reg");
  expect([landed.status, await landed.text()]).toEqual([200, expect.stringContaining("You are logged in")]);
  expect(done).toMatchObject({ name: "office", slug: "clerk", issuer: office.authorization.issuer, isRenewed: true });

  expect(statSync(fileOf(dir)).mode & 0o777).toBe(0o600);
  expect(statSync(join(dir, ".bdk/.oauth")).mode & 0o777).toBe(0o700);
  expect(await readdir(join(dir, ".bdk/.oauth/clerk"))).toEqual(["office.json"]);
  const listed = await bdk(["mcp", "--dir", dir]);
  expect(listed.stdout).toMatch(/office\s+clerk\s+logged in\s+http/);
  expectSecret(dir, running.lines.join("\n"), running.stderr(), listed.stdout, listed.stderr);

  const { tools, connectionErrors } = await listing(dir);
  expect(connectionErrors).toEqual([]);
  expect(tools.map(({ name }) => name)).toContain("office__say");
});

test("a redirect of somebody else changes nothing; the right one still counts, once", async () => {
  const office = await openOffice();
  const dir = await projectFor(office.mcp.url);
  const { running, event, page } = await begin(dir);
  const back = new URL(new URL(page).searchParams.get("redirect_uri") ?? "");
  for (const query of [
    "",
    "?code=x",
    "?code=x&state=",
    `?code=x&state=${"A".repeat(43)}`,
    "?error=access_denied&state=x",
  ]) {
    expect([query, (await fetch(back.href + query)).status]).toEqual([query, 400]);
  }
  expect((await fetch(back.origin)).status).toBe(404);
  expect((await fetch(back.href, { method: "POST" })).status).toBe(404);
  const right = await signIn(page);
  expect((await fetch(right)).status).toBe(200);
  await event("logged-in");
  expect(running.lines).toHaveLength(2);
});

test("without a browser on this machine, the address that another one ended at is pasted", async () => {
  const office = await openOffice();
  const dir = await projectFor(office.mcp.url);
  const running = await startBdk(["mcp", "oauth", "office", "--dir", dir, "--no-browser"]);
  const page = await running.line((line) => (line.startsWith("http") ? line : undefined));
  const ended = new URL(await signIn(page));
  const state = ended.searchParams.get("state") ?? "";
  const strange = [ended.href.replace(state, "A".repeat(43)), ended.href.replace("127.0.0.1", "evil.example"), "help"];
  for (const each of ["", ...strange]) running.write(each);
  await expect.poll(() => running.stderr().split("That is not the answer to this login").length).toBe(4);
  running.write(`  ${ended.href} `);
  expect(await running.line((line) => (line.startsWith("logged in to office") ? line : undefined))).toBeDefined();
  expect(running.stderr()).toContain("paste that here");
  expectSecret(dir, running.lines.join("\n"), running.stderr());
});

test("a client metadata document is the client's id where the server takes one", async () => {
  const id = "https://bots.example/bdk-client.json";
  const settings = await peopleLogIn();
  const document = {
    client_id: id,
    client_name: "A bot",
    application_type: "native",
    redirect_uris: ["http://127.0.0.1/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  };
  const configuration = {
    ...settings,
    features: {
      ...settings.features,
      registration: { enabled: false },
      clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
    },
    // The document is on no server of this machine: this is how the authorization server gets it.
    fetch: async (url: string | URL | Request, init?: RequestInit) =>
      String(url) === id ? Response.json(document) : fetch(url, init),
  };
  const office = await openOffice({ configuration });
  const dir = await projectFor(office.mcp.url);
  const { done } = await logIn(dir, ["--client-metadata-url", id]);
  expect(done).toMatchObject({ name: "office", isRenewed: true });
  expect(stored(dir).client).toMatchObject({ client_id: id });
  const { tokens } = stored(dir);
  expect(await refresh(office, tokens.refresh_token, id)).toMatchObject({ access_token: expect.any(String) });
  const told = await bdk(["mcp", "oauth", "office", "--dir", dir, "--client-metadata-url", "http://bots.example/x"]);
  expect([told.code, told.stderr]).toEqual([2, expect.stringContaining("is no https URL with a path")]);
});

test("an answer of another issuer is not used, whatever it says", async () => {
  const office = await openOffice();
  const dir = await projectFor(office.mcp.url);
  const { running, page } = await begin(dir);
  const url = new URL(await signIn(page));
  url.searchParams.set("iss", "https://evil.example");
  url.searchParams.set("error", "words_of_evil");
  expect((await fetch(url)).status).toBe(400);
  const told = await failureOf(running);
  expect(told).toContain("another issuer");
  expect(told).not.toContain("evil");
  expect(office.authorization.requests).not.toContain("POST /token");
  expect(() => stored(dir)).toThrow();
});

test("metadata of another issuer ends the login before anybody is shown a page", async () => {
  const office = await openOffice({ named: (issuer) => issuer.replace("127.0.0.1", "localhost") });
  const { code, stdout, stderr } = await bdk(["mcp", "oauth", "office", "--dir", await projectFor(office.mcp.url)]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("metadata is of another issuer");
});

test("a server that only has well-known metadata is found, and one that lets nobody register takes a client by hand", async () => {
  const settings = await peopleLogIn();
  const redirect = "http://127.0.0.1/callback";
  const configuration = {
    ...settings,
    features: { ...settings.features, registration: { enabled: false } },
    clients: [
      {
        client_id: "by-hand",
        client_secret: "s3cret-of-by-hand",
        redirect_uris: [redirect],
        grant_types: ["authorization_code", "refresh_token"],
        application_type: "native" as const,
      },
    ],
  };
  const office = await openOffice({ isSilent: true, configuration });
  const dir = await projectFor(office.mcp.url);
  const refused = await bdk(["mcp", "oauth", "office", "--dir", dir]);
  expect([refused.code, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toContain("register one there and pass --client-id");

  const running = await startBdk(["mcp", "oauth", "office", "--dir", dir, "--json", "--client-id", "by-hand"], {
    env: { MCP_OAUTH_CLIENT_SECRET: "s3cret-of-by-hand" },
  });
  const event = events(running);
  const { url = "" } = await event("authorize");
  expect((await fetch(await signIn(url))).status).toBe(200);
  await event("logged-in");
  expect(stored(dir).client.client_id).toBe("by-hand");
});

test("whoever declines, waits too long or interrupts is not logged in, and an earlier login stays", async () => {
  const office = await openOffice();
  const dir = await projectFor(office.mcp.url);
  await logIn(dir);
  const before = readFileSync(fileOf(dir), "utf8");

  const declined = await begin(dir);
  expect((await fetch(await signIn(declined.page, "abort"))).status).toBe(400);
  expect(await failureOf(declined.running)).toContain("the login was declined");

  const late = await bdk(["mcp", "oauth", "office", "--dir", dir, "--timeout", "4", "--no-browser"]);
  expect([late.code, late.stdout.startsWith(office.authorization.issuer)]).toEqual([1, true]);
  expect(late.stderr).toContain("nobody logged in within 4 seconds");

  const interrupted = await begin(dir);
  expect(await interrupted.running.interrupt()).toBe(1);
  expect(readFileSync(fileOf(dir), "utf8")).toBe(before);
});

test("logging out takes the tokens back", async () => {
  const office = await openOffice();
  const dir = await projectFor(office.mcp.url);
  await logIn(dir);
  const { tokens, client } = stored(dir);
  const { stdout } = await bdk(["mcp", "logout", "office", "--dir", dir]);
  expect(stdout).toContain("its tokens were taken back");
  expect(() => stored(dir)).toThrow();
  const again = await refresh(office, tokens.refresh_token, client.client_id);
  expect(again).toMatchObject({ error: "invalid_grant" });
  expect((await bdk(["mcp", "logout", "office", "--dir", dir, "--json"])).stdout).toContain('"loggedOut": false');
});

test("what can't be logged in to is told", async () => {
  const dir = await projectFor("http://127.0.0.1:1/mcp");
  await writeProject(dir, {
    "bot/mcp-connections/plain.ts": `import { defineConnection } from "@cursor/bdk/connections";

export default defineConnection({ url: "http://127.0.0.1:1/mcp" });
`,
  });
  const expectTold = async (args: readonly string[], code: number, ...texts: readonly string[]) => {
    const told = await bdk(["mcp", ...args, "--dir", dir]);
    expect([args, told.code, told.stdout]).toEqual([args, code, ""]);
    for (const text of texts) expect(told.stderr).toContain(text);
  };
  await expectTold(["oauth", "nothing"], 2, 'no connection "nothing"', "there is office");
  await expectTold(["oauth", "plain"], 2, "takes no login", "oauth: true");
  await expectTold(["oauth"], 2, "needs the name");
  await expectTold(["sing"], 2, 'no action "sing"', "list, oauth, logout");
  await expectTold(["list", "office"], 2);
  await expectTold(["oauth", "office"], 1, "BDK8018", "the server can't be reached");
  expect((await bdk(["mcp", "list", "--dir", dir, "--json"])).stdout).toContain('"loggedIn": false');
  const help = await bdk(["mcp", "--help"]);
  expect(help.stdout).toContain("bdk mcp oauth linear --no-browser");
});

async function refresh(office: Office, token: string, clientId: string): Promise<unknown> {
  const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: token, client_id: clientId });
  return (await fetch(`${office.authorization.issuer}/token`, { method: "POST", body })).json();
}
