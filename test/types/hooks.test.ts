import { defineHook, type HookContext, type SessionEvent, type SessionEventType } from "@cursor/bdk";
import { describe, expect, expectTypeOf, it } from "vitest";

describe("defineHook", () => {
  it("narrows the payload by the key", () => {
    const hook = defineHook({
      events: {
        async "turn.completed"(event, ctx) {
          expectTypeOf(ctx).toEqualTypeOf<HookContext>();
          expectTypeOf(event.type).toEqualTypeOf<"turn.completed">();
          if (ctx.session.purpose === "eval" || event.data.usage === undefined) return;
          expectTypeOf(event.data.usage.inputTokens).toEqualTypeOf<number>();
          ctx.host.otel.increment("tokens", event.data.usage.inputTokens);
        },
        "turn.failed": (event, ctx) => {
          expectTypeOf(event.data.status).toEqualTypeOf<"error" | "cancelled" | undefined>();
          ctx.host.otel.increment("failed", { channel: ctx.channel.id });
        },
        "actions.requested"(event) {
          for (const call of event.data.calls) expectTypeOf(call.toolName).toEqualTypeOf<string>();
        },
      },
    });
    expect(hook.__agentServe).toBe("hook");
    expectTypeOf(hook.events["turn.failed"]).toBeFunction();
    // @ts-expect-error this hook has no such handler
    expect(hook.events["turn.started"]).toBeUndefined();
  });

  it("gives the wildcard the union, narrowed by a switch on the type", () => {
    defineHook({
      events: {
        "*"(event) {
          expectTypeOf(event).toEqualTypeOf<SessionEvent>();
          expectTypeOf(event.type).toEqualTypeOf<SessionEventType>();
          switch (event.type) {
            case "message.completed":
              expectTypeOf(event.data.text).toEqualTypeOf<string>();
              break;
            case "action.result":
              expectTypeOf(event.data.isError).toEqualTypeOf<boolean>();
              break;
          }
        },
      },
    });
  });

  it("refuses unknown events and wrong payloads", () => {
    // @ts-expect-error no such event
    defineHook({ events: { "turn.complete": () => {} } });
    defineHook({
      events: {
        "turn.failed"(event) {
          // @ts-expect-error a failed turn has no usage
          return event.data.usage;
        },
      },
    });
  });

  it("is a plain object that a unit test can call", () => {
    const seen: string[] = [];
    const hook = defineHook({ events: { "message.received": (event) => seen.push(event.data.text) } });
    const event: SessionEvent<"message.received"> = {
      type: "message.received",
      index: 0,
      sessionId: "ses_1",
      at: "2026-11-30T10:00:00.000Z",
      data: { text: "hi" },
    };
    hook.events["message.received"](event, {} as HookContext);
    expect(seen).toEqual(["hi"]);
  });

  it("takes an empty map; the compiler warns about it", () => {
    expect(defineHook({ events: {} }).events).toEqual({});
  });
});
