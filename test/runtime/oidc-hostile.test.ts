/** `oidcAuth` where the provider's keys are odd, and callers try all of them. */
import { generateKeyPairSync } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { expect, test } from "vitest";
import { oidcAuth, POST } from "../../runtime/authoring/channels.js";
import { serve } from "./support/channels.js";
import { listen } from "./support/mcp-servers.js";

const pair = await generateKeyPair("ES256", { extractable: true });
const publicKey = await exportJWK(pair.publicKey);
const others = await exportJWK((await generateKeyPair("ES256", { extractable: true })).publicKey);
const audience = "desk";

/** A provider with these keys, and a channel that trusts it. */
async function open(keys: readonly JWK[]) {
  const provider = await listen((request, response) => {
    const issuer = `http://${request.headers.host}`;
    const isDiscovery = request.url?.includes("/.well-known/") === true;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(isDiscovery ? { issuer, jwks_uri: `${issuer}/keys` } : { keys }));
  });
  const issuer = new URL(provider.url).origin;
  const host = await serve({
    auth: [oidcAuth({ issuer, audience })],
    routes: [POST("/", { handler: (_request, { auth }) => Response.json(auth) })],
  });
  const exp = Math.floor(Date.now() / 1000) + 600;
  return {
    host,
    asked: () => provider.requests.length,
    sign: (header: { alg: string; kid?: string }, key = pair.privateKey) =>
      new SignJWT({ iss: issuer, aud: audience, sub: "ann", exp }).setProtectedHeader(header).sign(key),
    /** A token that nobody signed. */
    pretend: (header: object) => {
      const parts = [header, { iss: issuer, aud: audience, sub: "ann", exp }];
      return [...parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")), "AAAA"].join(".");
    },
    send: async (token: string) => {
      const response = await fetch(host.at, { method: "POST", headers: { authorization: `Bearer ${token}` } });
      return [response.status, ((await response.json()) as { message?: string }).message];
    },
  };
}

test("a key that can't be used costs those who name it, and nobody else", async () => {
  const short = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" });
  const { host, send, sign, pretend } = await open([
    { ...publicKey, kid: "good", alg: "ES256" },
    { ...short, kid: "short", alg: "RS256" } as JWK,
    { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "broken", alg: "ES256" },
  ]);
  const unusable = [401, "the token is not accepted: the key that it names can't be used"];
  expect(await send(pretend({ alg: "ES256", kid: "broken" }))).toEqual(unusable);
  expect(await send(pretend({ alg: "RS256", kid: "short" }))).toEqual(unusable);
  expect(await send(await sign({ alg: "ES256", kid: "good" }))).toEqual([200, undefined]);
  await send(pretend({ alg: "RS256", kid: "short" }));
  expect(host.lines.filter(({ message }) => message.includes("can't be used"))).toHaveLength(2);
});

test("tokens of unknown keys have the keys read once, however many come", async () => {
  const { send, sign, asked } = await open([{ ...publicKey, kid: "good", alg: "ES256" }]);
  expect(await send(await sign({ alg: "ES256", kid: "good" }))).toEqual([200, undefined]);
  const before = asked();
  const tokens = await Promise.all(Array.from({ length: 50 }, (_, at) => sign({ alg: "ES256", kid: `unknown-${at}` })));
  for (const [status] of await Promise.all(tokens.map(send))) expect(status).toBe(401);
  expect(asked() - before).toBeLessThanOrEqual(1);
});

test("a token that names no key is tried with some of the provider's, and not with ten thousand", async () => {
  const many = Array.from({ length: 10_000 }, (_, at) => ({ ...publicKey, kid: `key-${at}`, alg: "ES256" }));
  const few = await open(many.slice(0, 10));
  expect(await few.send(await few.sign({ alg: "ES256" }))).toEqual([200, undefined]);
  const stranger = await generateKeyPair("ES256");
  const wrong = [401, "the token is not accepted: its signature is wrong"];
  expect(await few.send(await few.sign({ alg: "ES256" }, stranger.privateKey))).toEqual(wrong);
  const all = await open([...many.slice(1).map((key) => ({ ...key, ...others })), { ...publicKey, kid: "last" }]);
  // The last one would fit: whoever has that many keys names the one.
  expect(await all.send(await all.sign({ alg: "ES256" }))).toEqual(wrong);
  expect(await all.send(await all.sign({ alg: "ES256", kid: "last" }))).toEqual([200, undefined]);
});
