/** What an MCP endpoint offers, and what it is told of one call. */
import type { Caller } from "../session/service.js";
import type { Soon } from "../session/soon.js";
import type { Fields } from "./message.js";
import type { ParamHeader } from "./param-headers.js";
import type { Era } from "./protocol.js";

/** One tool call of a client. */
export interface McpCall {
  readonly era: Era;
  readonly name: string;
  /** As they came: whether they fit is the tool's to say. */
  readonly args: Fields;
  readonly caller: Caller;
  /** Aborts when the client takes its request back, or when the server closes. Made when first asked for. */
  readonly signal: AbortSignal;
  /** Whether the client took its request back before it was answered. */
  readonly isTakenBack: boolean;
  /** Tells the client how far the call is; left out when it did not ask. */
  readonly progress?: (progress: number, total?: number, message?: string) => void;
  /** Sends the client a log line of at least the level it asked for; left out when none may be sent. */
  readonly log?: (level: string, data: unknown) => void;
}

/**
 * Text of a result's own fields, without the braces: `"content":[…],"isError":true`. What the revision adds to every
 * result goes before it.
 */
export type ResultFields = string;

/** A set of tools at one URL. All texts are made once for each generation of the agent's code. */
export interface McpEndpoint {
  /** Its tools write log lines that clients can ask for. */
  readonly hasLogging: boolean;
  /** JSON of the server's name and version. */
  readonly serverInfo: string;
  /** JSON of the sentence that a client may put into its system prompt; left out when there is none. */
  readonly instructions?: string;
  /** How long a client may keep a list, in milliseconds. */
  readonly ttlMs: number;
  /** JSON of the list of tools. */
  tools(era: Era): string;
  /** Marked arguments of a tool; `undefined` when there is no such tool. */
  paramHeaders(name: string): readonly ParamHeader[] | undefined;
  /** Runs a tool that there is. Rejects only for what no caller can mend. */
  call(call: McpCall): Soon<ResultFields>;
}

/** Schema of a tool of ours, and what it says of itself. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Fields;
  readonly outputSchema?: Fields;
  readonly annotations?: Fields;
}
