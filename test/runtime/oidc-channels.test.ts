/** `oidcAuth` against tokens of an independent provider, and against forged ones. */
import { importJWK, type JWK, SignJWT } from "jose";
import type { Configuration } from "oidc-provider";
import { afterEach, expect, test, vi } from "vitest";
import { type AuthFn, allowAll, bearerAuth, oidcAuth, POST, type Route } from "../../runtime/authoring/channels.js";
import {
  type AuthorizationServer,
  jwtTokens,
  machine,
  makeKey,
  startAuthorizationServer,
} from "./support/authorization-server.js";
import { serve } from "./support/channels.js";

const audience = "https://bots.example/desk";
const routes: readonly Route[] = [POST("/", { handler: (_request, { auth }) => Response.json(auth) })];

afterEach(() => {
  vi.useRealTimers();
});

function settings(keys: JWK[], extra: Configuration = {}): Configuration {
  return { clients: [machine], jwks: { keys: keys as never }, features: jwtTokens(), ...extra };
}

interface Answered {
  readonly status: number;
  readonly challenge: string | null;
  readonly body: Record<string, unknown>;
}

/** A channel with these policies; gives what it answers to a token. */
async function channel(auth: readonly AuthFn[]) {
  const host = await serve({ auth, routes });
  const send = async (token: string | undefined): Promise<Answered> => {
    const response = await fetch(host.at, {
      method: "POST",
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    });
    const body = (await response.json()) as Record<string, unknown>;
    return { status: response.status, challenge: response.headers.get("www-authenticate"), body };
  };
  return { ...host, send };
}

/** A token that the provider never made, signed with a key of the caller's choice. */
async function forge(
  server: AuthorizationServer,
  key: JWK | Uint8Array,
  claims: Record<string, unknown> = {},
  alg = "ES256",
  kid = "one",
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: server.issuer, aud: audience, sub: "ann", iat: now, exp: now + 600, ...claims })
    .setProtectedHeader({ alg, kid })
    .sign(key instanceof Uint8Array ? key : await importJWK(key, alg));
}

test("a provider's token names its holder, with all that it claims", async () => {
  const server = await startAuthorizationServer(settings([await makeKey("one")]));
  const { send } = await channel([oidcAuth({ issuer: server.issuer, audience })]);
  const { status, body } = await send(await server.token());
  expect(status).toBe(200);
  expect(body).toMatchObject({
    kind: "oidc",
    id: "machine",
    claims: { iss: server.issuer, aud: audience, sub: "machine", scope: "tickets:read" },
  });
});

test("the principal owns what it starts, and authored code sees who it is", async () => {
  const server = await startAuthorizationServer(settings([await makeKey("one")]));
  const seen: unknown[] = [];
  const host = await serve(
    {
      auth: [oidcAuth({ issuer: server.issuer, audience })],
      routes: [
        POST("/", {
          handler: async (_request, { send }) => {
            const session = await send("hello");
            await session.waitForCompletion();
            return Response.json({ id: session.id });
          },
        }),
      ],
      events: { "turn.completed": (_event, ctx) => seen.push(ctx.session.auth) },
    },
    { operatorToken: "an-operator-token" },
  );
  const headers = { authorization: `Bearer ${await server.token()}` };
  const { id } = (await (await fetch(host.at, { method: "POST", headers })).json()) as { id: string };
  await expect.poll(() => seen).toMatchObject([{ kind: "oidc", id: "machine", claims: { scope: "tickets:read" } }]);
  const listed = await fetch(`${host.base}/v1/sessions`, { headers: { authorization: "Bearer an-operator-token" } });
  const { sessions } = (await listed.json()) as { sessions: { id: string; owner: string }[] };
  expect(sessions).toMatchObject([{ id, owner: "oidc:machine" }]);
  // The token is good for the channel that says so: elsewhere this caller is whoever is on this machine.
  const direct = await fetch(`${host.base}/v1/session/${id}/events`, { headers });
  expect(direct.status).toBe(403);
});

test("discovery and keys are read once", async () => {
  const server = await startAuthorizationServer(settings([await makeKey("one")]));
  const { send } = await channel([oidcAuth({ issuer: server.issuer, audience })]);
  const token = await server.token();
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(token)));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(server.requests.filter((request) => request !== "POST /token").sort()).toEqual([
    "GET /.well-known/openid-configuration",
    "GET /jwks",
  ]);
});

test("what is not the provider's token for this audience is 401, and says why", async () => {
  const key = await makeKey("one");
  const server = await startAuthorizationServer(settings([key]));
  const other = await startAuthorizationServer(settings([await makeKey("one")]));
  const { send } = await channel([oidcAuth({ issuer: server.issuer, audience: ["https://else.example", audience] })]);
  const good = await server.token();
  const [head = "", payload = "", signature = ""] = good.split(".");
  const now = Math.floor(Date.now() / 1000);
  const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
  const { d: _private, ...publicKey } = key;
  const cases: readonly [string, string, string][] = [
    ["another audience", await server.token({ resource: "https://bots.example/other" }), "another audience"],
    ["another issuer's token", await other.token(), "another issuer"],
    ["another issuer's claim", await forge(server, key, { iss: `${server.issuer}/` }), "another issuer"],
    ["another provider's key", await forge(server, await makeKey("one")), "signature is wrong"],
    ["an unknown key", await forge(server, await makeKey("two"), {}, "ES256", "two"), "not one of the issuer's"],
    ["expired", await forge(server, key, { exp: now - 31 }), "has expired"],
    ["not yet valid", await forge(server, key, { nbf: now + 60 }), "not valid yet"],
    ["for ever", await forge(server, key, { exp: undefined }), '"exp"'.replace(/"/g, "'")],
    ["of nobody", await forge(server, key, { sub: undefined }), "'sub'"],
    ["alg none", `${none}.${payload}.`, "not allowed"],
    ["alg none, with the old signature", `${none}.${payload}.${signature}`, "not allowed"],
    [
      "the public key as a shared secret",
      await forge(server, Buffer.from(JSON.stringify(publicKey)), {}, "HS256"),
      "not allowed",
    ],
    ["a changed byte", `${head}.${payload.slice(0, -2)}${payload.endsWith("AA") ? "BB" : "AA"}.${signature}`, ""],
    ["no JWT", "an-opaque-token", "not a signed JWT"],
  ];
  for (const [name, token, reason] of cases) {
    const { status, challenge, body } = await send(token);
    expect([name, status, body.error]).toEqual([name, 401, "unauthorized"]);
    expect(challenge, name).toContain('Bearer error="invalid_token"');
    expect(challenge, name).toContain(reason);
  }
  const { status, challenge } = await send(undefined);
  expect([status, challenge]).toEqual([401, "Bearer"]);
  expect((await send(good)).status).toBe(200);
  const lately = Math.floor(Date.now() / 1000) - 5;
  expect((await send(await forge(server, key, { exp: lately }))).status).toBe(200);
});

test("algorithms and clock tolerance are what the options say", async () => {
  const keys = [await makeKey("one"), await makeKey("rsa", "RS256")];
  const server = await startAuthorizationServer(settings(keys));
  const [ec] = keys;
  if (ec === undefined) throw new Error("no key");
  const { send } = await channel([
    oidcAuth({ issuer: server.issuer, audience, algorithms: ["ES256"], clockToleranceSeconds: 0 }),
  ]);
  const now = Math.floor(Date.now() / 1000);
  expect((await send(await server.token())).status).toBe(200);
  expect((await send(await forge(server, ec, { exp: now - 2 }))).status).toBe(401);
  server.restart(settings(keys, { features: jwtTokens("RS256") }));
  expect((await send(await server.token())).challenge).toContain("algorithm is not allowed");
});

test("403 is for a good token that may not do this", async () => {
  const server = await startAuthorizationServer(settings([await makeKey("one")]));
  const options = { issuer: server.issuer, audience };
  const scoped = await channel([oidcAuth({ ...options, requiredScopes: ["tickets:read", "tickets:write"] })]);
  const refused = await scoped.send(await server.token());
  expect([refused.status, refused.body.error]).toEqual([403, "forbidden"]);
  expect(refused.challenge).toContain('error="insufficient_scope"');
  expect(refused.challenge).toContain('scope="tickets:write"');
  expect((await scoped.send(await server.token({ scope: "tickets:read tickets:write" }))).status).toBe(200);

  const mapped = await channel([
    oidcAuth({
      ...options,
      principal: ({ sub, scope }) => (scope === "tickets:read" ? { kind: "app", id: `app-${sub}` } : null),
    }),
  ]);
  expect((await mapped.send(await server.token())).body).toEqual({ kind: "app", id: "app-machine" });
  const unknown = await mapped.send(await server.token({ scope: "tickets:write" }));
  expect([unknown.status, unknown.body.error]).toEqual([403, "forbidden"]);
});

test("another policy may still admit; the gravest denial is told otherwise", async () => {
  const server = await startAuthorizationServer(settings([await makeKey("one")]));
  const policy = oidcAuth({ issuer: server.issuer, audience, requiredScopes: ["tickets:write"] });
  const both = await channel([policy, bearerAuth("a-fixed-secret", "ci")]);
  expect((await both.send("a-fixed-secret")).body).toMatchObject({ kind: "bearer", id: "ci" });
  expect((await both.send(await server.token())).status).toBe(403);
  const open = await channel([policy, allowAll()]);
  expect((await open.send(await server.token())).body).toMatchObject({ kind: "anonymous" });
});

test("with several issuers, one's subject is not another's", async () => {
  const first = await startAuthorizationServer(settings([await makeKey("one")]));
  const second = await startAuthorizationServer(settings([await makeKey("one")]));
  const { send } = await channel([first, second].map(({ issuer }) => oidcAuth({ issuer, audience })));
  expect((await send(await first.token())).body.id).toBe(`${first.issuer}#machine`);
  expect((await send(await second.token())).body.id).toBe(`${second.issuer}#machine`);
});

test("new keys are taken up, and keys that were taken back stop counting", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const [one, two] = [await makeKey("one"), await makeKey("two")];
  const server = await startAuthorizationServer(settings([one]));
  const { send } = await channel([oidcAuth({ issuer: server.issuer, audience })]);
  const old = await server.token();
  expect((await send(old)).status).toBe(200);
  server.restart(settings([two]));
  vi.setSystemTime(Date.now() + 31_000);
  expect((await send(await server.token())).status).toBe(200);
  // The set that was read for the new key lacks the old one.
  expect((await send(old)).challenge).toContain("not one of the issuer's");
});

test("while the provider is away its last keys count; a key that can't be looked up is 503, not 401", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const [one, two] = [await makeKey("one"), await makeKey("two")];
  const server = await startAuthorizationServer(settings([one], { features: jwtTokens("ES256", 7_200) }));
  const { send, lines } = await channel([oidcAuth({ issuer: server.issuer, audience })]);
  const token = await server.token();
  server.away(true);
  const early = await send(token);
  expect([early.status, early.body.error]).toEqual([503, "auth_unavailable"]);
  const asked = server.requests.length;
  await send(token);
  expect(server.requests).toHaveLength(asked);

  server.away(false);
  vi.setSystemTime(Date.now() + 6_000);
  expect((await send(token)).status).toBe(200);
  server.away(true);
  vi.setSystemTime(Date.now() + 11 * 60_000);
  expect((await send(token)).status).toBe(200);
  expect((await send(await forge(server, two, {}, "ES256", "two"))).status).toBe(503);
  vi.setSystemTime(Date.now() + 61 * 60_000);
  expect((await send(token)).status).toBe(503);
  server.away(false);
  vi.setSystemTime(Date.now() + 6_000);
  expect((await send(token)).status).toBe(200);
  const warnings = lines.filter(({ level }) => level === "warn").map(({ message }) => message);
  expect(warnings.some((message) => message.includes(`keys of the issuer ${server.issuer} can't be read`))).toBe(true);
  expect(JSON.stringify(lines)).not.toContain(token);
});

test("a discovery document of another issuer is not believed", async () => {
  const key = await makeKey("one");
  const server = await startAuthorizationServer(settings([key]));
  const issuer = `${server.issuer}/`;
  const { send, lines } = await channel([oidcAuth({ issuer, audience })]);
  expect((await send(await forge(server, key, { iss: issuer }))).status).toBe(503);
  expect(JSON.stringify(lines)).toContain("is of the issuer");
});

test("without discovery the keys come from jwksUri", async () => {
  const server = await startAuthorizationServer(settings([await makeKey("one")]));
  const { send } = await channel([oidcAuth({ issuer: server.issuer, audience, jwksUri: `${server.issuer}/jwks` })]);
  expect((await send(await server.token())).status).toBe(200);
  expect(server.requests).not.toContain("GET /.well-known/openid-configuration");
});

test("options that can't be carried out admit nobody, and the log says why", async () => {
  const issuer = "https://issuer.example";
  const cases: readonly [Parameters<typeof oidcAuth>[0], string][] = [
    [{ issuer: "", audience }, "issuer is not an https URL"],
    [{ issuer: "http://issuer.example", audience }, "issuer is not an https URL"],
    [{ issuer, audience: "" }, "audience is empty"],
    [{ issuer, audience: [] }, "audience is empty"],
    [{ issuer, audience, jwksUri: "http://issuer.example/jwks" }, "jwksUri is not an https URL"],
    [{ issuer, audience, algorithms: ["none" as "RS256"] }, '"none" is no algorithm'],
    [{ issuer, audience, algorithms: [] }, "list of algorithms is empty"],
  ];
  for (const [options, reason] of cases) {
    const { send, lines } = await channel([oidcAuth(options)]);
    expect((await send("a.b.c")).status).toBe(401);
    expect(JSON.stringify(lines.map(({ message }) => message).join("\n"))).toContain(reason.replace(/"/g, '\\"'));
  }
});
