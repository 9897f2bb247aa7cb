import { describe, expect, it } from "vitest";
import type { ChannelInfo } from "../../playground/src/api.js";
import { commandsOf, exampleBody, readCommand, usageOf } from "../../playground/src/endpoints.js";
import { timelineOf } from "../../playground/src/trace.js";

const schema = (properties: Record<string, unknown>, required: readonly string[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
});
const text = { type: "string" };
const channels: readonly ChannelInfo[] = [
  { name: "drive", routes: [{ method: "POST", path: "/", bodySchema: schema({ prUrl: text }) }] },
  {
    name: "deploy",
    routes: [
      { method: "POST", path: "/start", bodySchema: schema({ env: text, force: { type: "boolean" } }) },
      { method: "GET", path: "/start" },
      { method: "GET", path: "/", querySchema: schema({}) },
      { method: "POST", path: "/runs/:id" },
    ],
  },
  { name: "github", pack: "github", routes: [{ method: "POST", path: "/" }] },
];
const commands = commandsOf({ channels });

describe("slash commands", () => {
  it("are routes without path parameters, and none of a pack", () => {
    expect(commands.map(usageOf)).toEqual(["/drive <pr-url>", "/deploy-start {json}", "/deploy-start-get", "/deploy"]);
  });

  it("fill their one text, or take JSON; all else is a message", () => {
    const read = (line: string) => {
      const asked = readCommand(line, commands);
      return typeof asked === "object" ? [asked.command.endpoint.path, asked.body] : asked;
    };
    expect(read("/drive https://example.test/1 now")).toEqual([
      "/v1/channels/drive",
      { prUrl: "https://example.test/1 now" },
    ]);
    expect(read('/deploy-start {"env":"eu"}')).toEqual(["/v1/channels/deploy/start", { env: "eu" }]);
    expect(read("/deploy")).toEqual(["/v1/channels/deploy", {}]);
    expect(() => read("/deploy-start eu")).toThrow("takes JSON");
    expect(read("/help")).toBe("help");
    expect(read('/add {"a":1}')).toBeUndefined();
    expect(read("drive")).toBeUndefined();
  });

  it("begin with what their schema requires", () => {
    const nested = schema(
      { at: text, to: schema({ x: { type: "integer" } }), how: { enum: ["fast", "slow"] }, more: text },
      ["at", "to", "how"],
    );
    expect(exampleBody(nested)).toEqual({ at: "", to: { x: 0 }, how: "fast" });
    expect(exampleBody(undefined)).toEqual({});
  });
});

it("a timeline has what was begun, and ends it with its turn", () => {
  const events = [
    ["session.started", 0, {}],
    ["turn.started", 10, {}],
    ["step.started", 20, { step: 1 }],
    ["actions.requested", 30, { calls: [{ callId: "c", toolName: "pay" }] }],
    ["step.completed", 35, { step: 1 }],
    ["action.approval_requested", 40, { callId: "c", toolName: "pay" }],
    ["action.approval_resolved", 90, { callId: "c", decision: "deny" }],
    ["action.result", 95, { callId: "c", isError: true }],
    ["step.started", 96, { step: 2 }],
    ["turn.failed", 110, { status: "cancelled" }],
  ] as const;
  const timeline = timelineOf(
    events.map(([type, ms, data], index) => ({
      ...{ type, index, data, sessionId: "ses_1", turnId: "turn_1" },
      at: new Date(Date.UTC(2026, 10, 30) + ms).toISOString(),
    })),
  );
  expect(timeline.duration).toBe(110);
  expect(timeline.spans.map(({ label, start, end, isFailed }) => [label, start, end, isFailed])).toEqual([
    ["turn", 10, 110, true],
    ["step 1", 20, 35, false],
    ["pay", 30, 95, true],
    ["approval of pay", 40, 90, true],
    ["step 2", 96, 110, true],
  ]);
});
