/** Renewals where everything happens at once, token endpoints that lie, and disks that take nothing. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { lockStore } from "../../runtime/storage/lock.js";
import { openLogins } from "../../runtime/storage/login-store.js";
import { connectedBundle } from "./support/connections.js";
import { call, startHost, temporaryFolder } from "./support/host.js";
import { listen } from "./support/mcp-servers.js";

/** A token endpoint where each refresh token is good once, and an MCP server that takes the last access token only. */
async function openOffice(extra = '"expires_in":600') {
  let count = 1;
  let isRefused = false;
  let refused = 0;
  const held: (() => void)[] = [];
  const tokens = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      const isSpent = new URLSearchParams(text).get("refresh_token") !== `refresh-number-${count}`;
      response.writeHead(isSpent ? 400 : 200, { "content-type": "application/json" });
      if (isSpent) return void response.end('{"error":"invalid_grant"}');
      count += 1;
      isRefused = false;
      const pair = `"access_token":"access-number-${count}","refresh_token":"refresh-number-${count}"`;
      response.end(`{${pair},"token_type":"Bearer",${extra}}`);
      for (const answer of held.splice(0)) answer();
    });
  });
  tokens.listen(0, "127.0.0.1");
  await once(tokens, "listening");
  onTestFinished(() => void tokens.close());
  const mcp = await listen((request, response, body) => {
    if (isRefused || request.headers.authorization !== `Bearer access-number-${count}`) {
      const refuse = () => void response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      refused += 1;
      // The first is refused at once, others that came with it when its renewal has been answered.
      return refused === 1 || !isRefused ? refuse() : held.push(refuse);
    }
    if (body === undefined) return response.writeHead(405).end();
    const { id, method, params } = body as { id?: number; method: string; params?: { protocolVersion?: string } };
    if (id === undefined) return response.writeHead(202).end();
    const { protocolVersion } = params ?? {};
    const known: Readonly<Record<string, object>> = {
      initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "office", version: "1" } },
      "tools/list": { tools: [{ name: "say", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: "said" }] },
    };
    const result = known[method];
    const answer = result === undefined ? { error: { code: -32601, message: "no" } } : { result };
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  const issuer = `http://127.0.0.1:${(tokens.address() as AddressInfo).port}`;
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ["code"],
  };
  /** Somebody is logged in, and the token has run out, or is good for long. */
  const logIn = (stateRoot: string, expiresAt: string) => {
    openLogins(stateRoot, "tester").write("office", {
      formatVersion: 1,
      url: mcp.url,
      authorizationServer: { url: issuer, metadata },
      resource: mcp.url,
      client: { client_id: "desk", issuer },
      tokens: { access_token: "access-number-1", refresh_token: "refresh-number-1", token_type: "Bearer", issuer },
      expiresAt,
    });
    return stateRoot;
  };
  return {
    logIn,
    given: () => count,
    /** From now on the newest token is refused, until there is a newer one. */
    refuse: () => {
      isRefused = true;
      refused = 0;
    },
    bundle: connectedBundle({ mcp: { office: { url: mcp.url, oauth: true, advertiseTools: true } } }),
  };
}

const farOff = "2100-01-01T00:00:00.000Z";
const longAgo = "2000-01-01T00:00:00.000Z";
const say = async (base: string) => (await call(`${base}/v1/tools/office__say`, { body: {} })).body;
const worked = { isError: false };

it("twenty calls that are refused with one token, some of them late, renew it once", async () => {
  const office = await openOffice();
  const host = await startHost(office.bundle, { stateRoot: office.logIn(temporaryFolder(), farOff) });
  expect(await say(host.base)).toMatchObject(worked);
  office.refuse();
  const answers = await Promise.all(Array.from({ length: 20 }, () => say(host.base)));
  for (const answer of answers) expect(answer).toMatchObject(worked);
  expect(office.given()).toBe(2);
});

it("two hosts that share their logins renew once, and both go on", async () => {
  const office = await openOffice();
  const [one, other] = [office.logIn(temporaryFolder(), longAgo), temporaryFolder()];
  symlinkSync(join(one, ".oauth"), join(other, ".oauth"));
  const hosts = [
    await startHost(office.bundle, { stateRoot: one }),
    await startHost(office.bundle, { stateRoot: other }),
  ];
  const answers = await Promise.all([...hosts, ...hosts, ...hosts].map(({ base }) => say(base)));
  for (const answer of answers) expect(answer).toMatchObject(worked);
  expect(office.given()).toBe(2);
});

it("whoever renews a login is alone with it, in whatever process", async () => {
  const stateRoot = temporaryFolder();
  const [one, other] = [openLogins(stateRoot, "tester"), openLogins(stateRoot, "tester")];
  mkdirSync(join(stateRoot, ".oauth/tester"), { recursive: true });
  const order: string[] = [];
  let letGo = (): void => undefined;
  const first = one.alone("office", async () => {
    order.push("first begins");
    await new Promise<void>((done) => {
      letGo = done;
    });
    order.push("first ends");
  });
  await expect.poll(() => order).toEqual(["first begins"]);
  const second = other.alone("office", async () => void order.push("second"));
  letGo();
  await Promise.all([first, second]);
  expect(order).toEqual(["first begins", "first ends", "second"]);
});

it("a renewal that was killed keeps nobody waiting", { timeout: 25_000 }, async () => {
  const office = await openOffice();
  const stateRoot = office.logIn(temporaryFolder(), longAgo);
  const folder = join(stateRoot, ".oauth/tester/office.renewal");
  mkdirSync(folder);
  const lock = join(folder, "lock");
  const giveBack = lockStore(folder);
  const dead = spawnSync(process.execPath, ["--version"]).pid;
  const left = readFileSync(lock, "utf8").replaceAll(String(process.pid), String(dead));
  giveBack();
  writeFileSync(lock, left);
  const host = await startHost(office.bundle, { stateRoot });
  // Whoever waits gives up after thirty seconds, which is longer than this test may take.
  expect(await say(host.base)).toMatchObject(worked);
});

it("a token that lives for seconds only is used for half of them", async () => {
  const office = await openOffice('"expires_in":29');
  const host = await startHost(office.bundle, { stateRoot: office.logIn(temporaryFolder(), longAgo) });
  expect(await say(host.base)).toMatchObject(worked);
  expect(await say(host.base)).toMatchObject(worked);
  expect(office.given()).toBe(2);
});

it.each(['"expires_in":1e300', '"expires_in":-5', '"expires_in":"600"', '"scope":"all"'])(
  "a token endpoint that answers %s breaks nothing",
  async (extra) => {
    const office = await openOffice(extra);
    const host = await startHost(office.bundle, { stateRoot: office.logIn(temporaryFolder(), longAgo) });
    expect(await say(host.base)).toMatchObject(worked);
    expect(await say(host.base)).toMatchObject(worked);
  },
);

it("a renewed login that can't be stored counts all the same, and the log says so without it", async () => {
  const office = await openOffice();
  const stateRoot = office.logIn(temporaryFolder(), longAgo);
  const host = await startHost(office.bundle, { stateRoot });
  // What is written first is a file of this name: a folder that stands there stops root, too.
  mkdirSync(join(stateRoot, ".oauth/tester", `office.json.${process.pid}.next`));
  expect(await say(host.base)).toMatchObject(worked);
  office.refuse();
  expect(await say(host.base)).toMatchObject(worked);
  expect(office.given()).toBe(3);
  const lines = JSON.stringify(host.lines);
  expect(lines).toContain("as it can't be stored");
  expect(lines).not.toMatch(/(?:access|refresh)-number/);
});
