/** An agent with one tool of every sort, for the HTTP tests. */
import * as z from "zod/v4";
import { defineTool } from "../../../runtime/authoring/tools.js";
import type { AgentParts } from "./bundle.js";

/** Something a test opens when the tool may go on. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

export interface Tester {
  readonly parts: AgentParts;
  /** Calls of `note`, in order. */
  readonly notes: string[];
  /** `wait` returns once it is open. */
  readonly gate: Gate;
  /** Resolves when `wait` has begun. */
  readonly begun: Gate;
}

export function createTester(overrides: Partial<AgentParts> = {}): Tester {
  const notes: string[] = [];
  const gate = createGate();
  const begun = createGate();
  const tools = {
    add: defineTool({
      title: "Add numbers",
      description: "Adds two numbers.",
      effect: "read",
      inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
      execute: ({ a, b }) => ({ sum: a + b }),
    }),
    note: defineTool({
      description: "Writes something down.",
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text }) => {
        notes.push(text);
        return `noted ${text}`;
      },
    }),
    boom: defineTool({
      description: "Fails.",
      effect: "read",
      execute: () => {
        throw new Error("the fuse is gone");
      },
    }),
    wait: defineTool({
      description: "Waits until it may go on.",
      effect: "read",
      execute: async (_input, ctx) => {
        begun.open();
        await Promise.race([
          gate.opened,
          new Promise((_resolve, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason))),
        ]);
        return "went on";
      },
    }),
    gated: defineTool({
      description: "Asks first.",
      needsApproval: true,
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text }) => {
        notes.push(text);
        return "done";
      },
    }),
    plain: defineTool({
      description: "Takes plain JSON Schema.",
      effect: "read",
      inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      execute: (input) => input,
    }),
    script: defineTool({
      description: "Runs where the agent runs.",
      execution: "agent",
      execute: () => "never here",
    }),
  };
  return { parts: { tools, ...overrides }, notes, gate, begun };
}
