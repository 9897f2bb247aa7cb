import { type JsonObject, type JsonSchemaObject, defineTool as rootDefineTool, type StandardSchema } from "@cursor/bdk";
import { defineTool, type ToolContext, type ToolDefinition, type ToolExecuteResult } from "@cursor/bdk/tools";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import * as z4 from "zod/v4";

describe("defineTool", () => {
  it("types input by zod 4, after defaults and coercion", () => {
    const tool = defineTool({
      description: "d",
      inputSchema: z.object({ prUrl: z.url(), limit: z.number().default(3), tags: z.array(z.string()).optional() }),
      effect: (input) => {
        expectTypeOf(input.limit).toEqualTypeOf<number>();
        return input.limit > 3 ? "write" : "read";
      },
      needsApproval: (input, ctx) => {
        expectTypeOf(ctx).toEqualTypeOf<ToolContext>();
        return input.prUrl.length > 3;
      },
      dryRunResult: (input) => ({ would: input.prUrl }),
      execute(input, ctx) {
        expectTypeOf(input).toEqualTypeOf<{ prUrl: string; limit: number; tags?: string[] | undefined }>();
        expectTypeOf(ctx).toEqualTypeOf<ToolContext>();
        return { ok: true };
      },
    });
    expect(tool.__agentServe).toBe("tool");
  });

  it("types input by zod 3", () => {
    defineTool({
      description: "d",
      inputSchema: z3.object({ count: z3.coerce.number(), mode: z3.enum(["a", "b"]).default("a") }),
      async execute({ count, mode }) {
        expectTypeOf(count).toEqualTypeOf<number>();
        expectTypeOf(mode).toEqualTypeOf<"a" | "b">();
        return count;
      },
    });
  });

  it("types input by transforms and by the zod/v4 entry", () => {
    defineTool({
      description: "d",
      inputSchema: z4.object({ at: z4.string().transform((text) => new Date(text)) }),
      execute: ({ at }) => {
        expectTypeOf(at).toEqualTypeOf<Date>();
        return at.toISOString();
      },
    });
  });

  it("types input by any Standard Schema", () => {
    const schema: StandardSchema<{ n: string }, { n: number }> = {
      "~standard": { version: 1, vendor: "own", validate: () => ({ value: { n: 1 } }) },
    };
    defineTool({
      description: "d",
      inputSchema: schema,
      execute: ({ n }) => {
        expectTypeOf(n).toEqualTypeOf<number>();
        return n;
      },
    });
  });

  it("takes raw JSON beside a plain JSON Schema, and lets the author annotate it", () => {
    defineTool({
      description: "d",
      inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
      execute(input) {
        expectTypeOf(input).toEqualTypeOf<JsonObject>();
        return input.q ?? null;
      },
    });
    interface Query {
      readonly q: string;
    }
    defineTool({
      description: "d",
      inputSchema: { type: "object", properties: { q: { type: "string" } } },
      execute: (input: Query) => input.q,
    });
    const schema: JsonSchemaObject = { type: "object" };
    const config: {
      description: string;
      inputSchema: JsonSchemaObject;
      effect: "read" | "write";
      execute: (input: JsonObject, ctx: Pick<ToolContext, "toolCallId">) => Promise<ToolExecuteResult>;
    } = { description: "d", inputSchema: schema, effect: "read", execute: async () => "ok" };
    expect(defineTool(config).inputSchema).toBe(schema);
  });

  it("needs no schema", () => {
    const tool = rootDefineTool({ description: "d", execute: () => undefined });
    expect(tool.inputSchema).toBeUndefined();
    defineTool({ description: "d", inputSchema: undefined, execute: (input) => Object.keys(input) });
  });

  it("types the result by the output schema", () => {
    const outputSchema = z.object({ sum: z.number(), note: z.string().default("") });
    defineTool({ description: "d", outputSchema, execute: () => ({ sum: 1 }) });
    defineTool({ description: "d", outputSchema, execute: async () => ({ content: [{ type: "text", text: "x" }] }) });
    defineTool({
      description: "d",
      outputSchema,
      // @ts-expect-error the schema wants a number
      execute: () => ({ sum: "1" }),
    });
  });

  it("takes envelopes, interfaces and nothing as results", () => {
    interface Row {
      readonly id: number;
    }
    defineTool({ description: "d", execute: (): Row[] => [{ id: 1 }] });
    defineTool({ description: "d", execute: () => {} });
    defineTool({
      description: "d",
      execute: () => ({
        content: [
          { type: "image", data: "aGk=", mimeType: "image/png" },
          { type: "text", text: "hi" },
        ],
        structuredContent: { id: 1 },
        isError: false,
      }),
    });
  });

  it("takes a function from elsewhere as execute", () => {
    const jobLogInput = z.object({ buildId: z.string(), lines: z.number().default(50) });
    async function readRedactedLog(input: z.infer<typeof jobLogInput>): Promise<string[]> {
      return [input.buildId.slice(0, input.lines)];
    }
    defineTool({ description: "d", inputSchema: jobLogInput, execute: readRedactedLog });
  });

  it("gives definitions that can be kept in a list", () => {
    const tools: ToolDefinition[] = [
      defineTool({ description: "d", execute: () => 1 }),
      defineTool({
        description: "d",
        inputSchema: z.object({ a: z.string() }),
        outputSchema: z.object({ b: z.string() }),
        effect: ({ a }) => (a === "" ? "read" : "write"),
        needsApproval: ({ a }) => a === "",
        execute: ({ a }) => ({ b: a }),
      }),
      defineTool({ description: "d", inputSchema: { type: "object" }, execute: (input) => Object.keys(input) }),
    ];
    expect(tools).toHaveLength(3);
  });

  it("refuses what can't be right", () => {
    // @ts-expect-error a description is required
    defineTool({ execute: () => 1 });
    // @ts-expect-error no such effect
    defineTool({ description: "d", effect: "readonly", execute: () => 1 });
    defineTool({
      description: "d",
      inputSchema: z.object({ a: z.string() }),
      // @ts-expect-error the annotation contradicts the schema
      execute: ({ a }: { a: number }) => a,
    });
    // @ts-expect-error a bigint isn't JSON
    defineTool({ description: "d", execute: () => 1n });
  });
});
