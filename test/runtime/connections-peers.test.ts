import { randomBytes } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ToolContext } from "../../runtime/authoring/tools.js";
import { StartupError } from "../../runtime/host/environment.js";
import type { AgentBundle } from "../../runtime/manifest/bundle.js";
import { makeBundle } from "./support/bundle.js";
import { connected } from "./support/connections.js";
import { call, followUntil, isWaiting, startHost, startSession } from "./support/host.js";

const deskTools = {
  by_code: {
    description: "Asks the lab.",
    execute: (_input: unknown, { host }: ToolContext) =>
      host.mcp.callTool("lab-host", "ask", { message: "from code", waitSeconds: 20 }),
  },
};

const labTools = { measure: { description: "Measures.", effect: "read", execute: () => ({ grams: 7 }) } };

/** The desk asks the lab: by its model, and by its code. */
function twoAgents(): AgentBundle {
  const mcp = { lab: { agent: "lab", advertiseTools: true } };
  const desk = connected({ slug: "desk", mcp, hostOnly: { "lab-host": { agent: "lab" } }, tools: deskTools });
  return makeBundle([desk, { slug: "lab", tools: labTools }]);
}

async function sessionsOf(url: string, headers?: HeadersInit) {
  const { body } = await call(`${url}/v1/sessions`, headers === undefined ? {} : { headers });
  return body.sessions as { id: string; owner: string; title?: string }[];
}

describe("two agents on one host", () => {
  it("one asks the other, over HTTP; the session there belongs to who asked here", async () => {
    const host = await startHost(twoAgents());
    const desk = `${host.url}/desk`;
    const { sessionId } = await startSession(desk, { message: '/lab__ask {"message":"/measure {}","waitSeconds":20}' });
    const events = await followUntil(desk, sessionId, isWaiting);
    const answer = events.flatMap((event) => (event.type === "action.result" ? [event.data] : []))[0];
    expect(answer).toMatchObject({ toolName: "lab__ask", isError: false });
    const [asked] = await sessionsOf(`${host.url}/lab`);
    expect(asked?.owner).toBe("loopback:local");
    const inLab = await followUntil(`${host.url}/lab`, asked?.id ?? "", isWaiting);
    expect(inLab.flatMap((event) => (event.type === "action.result" ? [event.data] : []))).toMatchObject([
      { toolName: "measure", output: { grams: 7 } },
    ]);
    expect(JSON.stringify(answer?.output)).toContain(asked?.id);
  });

  it("carries each principal: nobody sees what another asked", async () => {
    const host = await startHost(twoAgents(), { authToken: "token-of-everyone", operatorToken: "token-of-operators" });
    const bearer = { authorization: "Bearer token-of-everyone" };
    const operator = { authorization: "Bearer token-of-operators" };
    const ask = { input: { message: "hello", waitSeconds: 20 } };
    const direct = await call(`${host.url}/desk/v1/tools/lab__ask`, { body: ask, headers: bearer });
    expect(direct.body).toMatchObject({ ok: true, isError: false });
    const byCode = await call(`${host.url}/desk/v1/tools/by_code`, { body: {}, headers: operator });
    expect(byCode.body).toMatchObject({ ok: true, isError: false });
    expect((await sessionsOf(`${host.url}/lab`, bearer)).map(({ owner }) => owner)).toEqual(["bearer:token"]);
    const all = await sessionsOf(`${host.url}/lab`, operator);
    expect(all.map(({ owner }) => owner).sort()).toEqual(["bearer:operator", "bearer:token"]);
    // An operator's rights don't travel with its name: what a model asks for is another's session.
    const theirs = all.find(({ owner }) => owner === "bearer:token")?.id;
    const peek = await call(`${host.url}/desk/v1/tools/lab__check`, {
      body: { input: { sessionId: theirs } },
      headers: operator,
    });
    expect(peek.body).toMatchObject({ isError: true });
    const own = await call(`${host.url}/desk/v1/tools/lab__check`, {
      body: { input: { sessionId: theirs } },
      headers: bearer,
    });
    expect(own.body).toMatchObject({ isError: false });
  });

  it("works in dev, where loopback callers see all, with the peer's own sessions only", async () => {
    const host = await startHost(twoAgents(), { dev: true });
    const direct = await call(`${host.url}/desk/v1/tools/lab__ask`, {
      body: { input: { message: "hello", waitSeconds: 20 } },
    });
    expect(direct.body).toMatchObject({ isError: false });
  });
});

describe("a pass", () => {
  it("that this process did not issue admits nobody", async () => {
    const host = await startHost(twoAgents(), { authToken: "token-of-everyone" });
    for (const pass of [randomBytes(32).toString("base64url"), "", "..", "x".repeat(5_000)]) {
      const { status } = await call(`${host.url}/lab/v1/sessions`, { headers: { "x-bdk-peer": pass } });
      expect(status).toBe(401);
    }
  });

  it("is good for the one request it was made for", async () => {
    const shown: string[] = [];
    const real = globalThis.fetch;
    const spy = vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
      const pass = new Headers(init?.headers).get("x-bdk-peer");
      if (pass !== null) shown.push(pass);
      return real(input, init);
    });
    onTestFinished(() => spy.mockRestore());
    const headers = { authorization: "Bearer token-of-everyone" };
    const host = await startHost(twoAgents(), { authToken: "token-of-everyone" });
    const asked = await call(`${host.url}/desk/v1/tools/by_code`, { body: {}, headers });
    expect(asked.body).toMatchObject({ ok: true, isError: false });
    spy.mockRestore();
    expect(shown.length).toBeGreaterThan(1);
    expect(new Set(shown).size).toBe(shown.length);
    for (const pass of shown) {
      const { status } = await call(`${host.url}/lab/v1/sessions`, { headers: { "x-bdk-peer": pass } });
      expect(status).toBe(401);
    }
  });
});

it("a peer that is not mounted: the host refuses to start, and to take such code", async () => {
  const alone = makeBundle([connected({ slug: "desk", mcp: { lab: { agent: "lab" } } })]);
  const message =
    'the connection "lab" of agent "desk" (bot/mcp-connections/lab.ts:1) leads to the agent "lab", which is not mounted here; there are: desk';
  await expect(startHost(alone)).rejects.toThrow(new StartupError(message));
  const hostOnly = makeBundle([connected({ slug: "desk", hostOnly: { lab: { agent: "lab" } } })]);
  await expect(startHost(hostOnly)).rejects.toThrow(StartupError);
  const host = await startHost(twoAgents());
  await expect(host.swap(alone)).rejects.toThrow(StartupError);
});
