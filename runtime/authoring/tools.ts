/** `bot/tools/<name>.ts`: one typed tool a file, named by the file. */
import type { JsonObject } from "../session/event.js";
import type { ArtifactsApi } from "./artifacts.js";
import type { HostServices, SessionInfo } from "./host.js";
import type { InferInput, InferOutput, JsonSchemaObject, StandardSchema } from "./schema.js";

/** What authored tool code is given. */
export interface ToolContext {
  readonly session: SessionInfo;
  readonly agent: { readonly name: string };
  readonly host: HostServices;
  /** Bound to this session and turn. */
  readonly artifacts: ArtifactsApi;
  /** Aborts when the turn is stopped or the tool runs out of time; pass it to `fetch` and the like. */
  readonly signal: AbortSignal;
  /** The call's id on the event stream. */
  readonly toolCallId?: string;
  /** Absolute path of the session's workspace. */
  readonly workspaceDir: string;
  /** Absolute path of the local state root. */
  readonly stateRoot: string;
  /** The time of day for this session: the wall clock, or its frozen `asOf`. */
  now(): Date;
  /**
   * Tells whoever waits for this call how far it is. MCP clients that ask for progress get it; elsewhere it does nothing.
   * Values have to grow; those that don't are dropped.
   *
   * @example ctx.progress(3, 10, "third page of ten")
   */
  progress(progress: number, total?: number, message?: string): void;
  /** A line for the server's log, and for the MCP client that called and wants such lines. */
  log(level: ToolLogLevel, message: string): void;
}

/** How grave a line of `ctx.log` is. */
export type ToolLogLevel = "debug" | "info" | "warning" | "error";

/** One part of an explicit tool result. */
export type ToolResultContent =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image" | "audio";
      /** Base64. */
      readonly data: string;
      readonly mimeType: string;
    }
  | {
      readonly type: "resource";
      /** A text or, as base64 in `blob`, bytes, under the name that `uri` gives them. */
      readonly resource: {
        readonly uri: string;
        readonly mimeType?: string;
        readonly text?: string;
        readonly blob?: string;
      };
    }
  | {
      readonly type: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly description?: string;
      readonly mimeType?: string;
    };

/** A result with content of several kinds, for tools that return images or report failure without throwing. */
export interface ToolResultEnvelope {
  readonly content: readonly ToolResultContent[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** What `execute` may return: any JSON value (nothing counts as `null`), or an envelope. */
export type ToolExecuteResult = ToolResultEnvelope | string | number | boolean | null | undefined | void | object;

/** `read` may run in dry runs and beside a running turn; `write` is stubbed in dry runs and never run twice. */
export type ToolEffect = "read" | "write";

/** What can stand as `inputSchema` or `outputSchema`. */
export type ToolSchema = StandardSchema | JsonSchemaObject;

/** Input of a tool whose schema is plain JSON Schema, or that has none. */
export type RawToolInput = JsonObject;

/** The parsed input that a schema gives: its output type; raw JSON for plain JSON Schema. */
export type ToolInput<S> = S extends StandardSchema ? InferOutput<S> : RawToolInput;

/** How far an annotation on `input` may go: it must fit a typed schema, and is free beside a plain JSON Schema. */
export type ToolInputBound<S> = S extends StandardSchema ? InferOutput<S> : unknown;

/** What `execute` must return for an `outputSchema`. */
export type ToolOutput<O> = ToolResultEnvelope | (O extends StandardSchema ? InferInput<O> : ToolExecuteResult);

/** A function whose parameters are compared as a method's are, so that tools of different inputs fit into one list. */
type Loose<F extends (...args: never[]) => unknown> = { method(...args: Parameters<F>): ReturnType<F> }["method"];

/** A tool, as its file writes it. */
export interface ToolConfig<S, O, I> {
  /** Told to the model: what the tool does and when to use it. */
  readonly description: string;
  /** Display name. */
  readonly title?: string | undefined;
  /** Checked before `execute`; defaults and coercions apply. Left out: any object. */
  readonly inputSchema?: S | undefined;
  /** Types and checks what `execute` returns. */
  readonly outputSchema?: O | undefined;
  /** `server` (default) runs in the serving process; `agent` is a script that runs in the session's workspace. */
  readonly execution?: "server" | "agent" | undefined;
  /** Fixed, or chosen by the parsed input. Default `write`: an effect nobody declared must not run in a dry run. */
  readonly effect?: ToolEffect | Loose<(input: I) => ToolEffect> | undefined;
  /** Parks a call of the model until a human decides. Direct calls aren't parked. */
  readonly needsApproval?: boolean | Loose<(input: I, ctx: ToolContext) => boolean | Promise<boolean>> | undefined;
  /** What a dry-run session answers instead of running a write. */
  dryRunResult?(input: I, ctx: ToolContext): unknown;
  /** Milliseconds before the call is given up. Default 60 000. */
  readonly timeoutMs?: number | undefined;
  /** Does the work. A thrown error's message is told to the model as the tool's failure. */
  execute(input: I, ctx: ToolContext): ToolOutput<O> | Promise<ToolOutput<O>>;
}

/** What `defineTool` returns. */
export type ToolDefinition<S = ToolSchema | undefined, O = ToolSchema | undefined, I = ToolInput<S>> = ToolConfig<
  S,
  O,
  I
> & { readonly __agentServe: "tool" };

/**
 * Defines a tool. `input` takes its type from `inputSchema`, the result from `outputSchema`.
 *
 * @example
 * export default defineTool({
 *   description: "Adds two numbers.",
 *   inputSchema: z.object({ a: z.number(), b: z.number() }),
 *   effect: "read",
 *   execute: ({ a, b }) => ({ sum: a + b }),
 * });
 */
export function defineTool<
  S extends ToolSchema | undefined = undefined,
  O extends ToolSchema | undefined = undefined,
  I extends ToolInputBound<S> = ToolInput<S>,
>(config: ToolConfig<S, O, I>): ToolDefinition<NoInfer<S>, NoInfer<O>, NoInfer<I>> {
  return { ...config, __agentServe: "tool" };
}
