/** JSON-RPC 2.0 as MCP narrows it: what came in, and the texts that go out. */

export type Fields = Readonly<Record<string, unknown>>;
export type RpcId = string | number;

export type Message =
  | { readonly is: "request"; readonly id: RpcId; readonly method: string; readonly params: Fields }
  | { readonly is: "notification"; readonly method: string; readonly params: Fields }
  | { readonly is: "response" }
  | { readonly is: "malformed"; readonly id: RpcId | undefined; readonly message: string };

export type Request = Extract<Message, { is: "request" }>;

/** An answer as HTTP carries it; without a body for what gets no answer. */
export interface Reply {
  readonly status: number;
  readonly body?: string;
  /** The client no longer waits for it: said only where HTTP asks for something to be said. */
  readonly isUnwanted?: boolean;
}

const noParams: Fields = Object.freeze({});

/** Tells what a JSON value is, if it is a message at all. */
export function readMessage(value: unknown): Message {
  if (!isFields(value)) return { is: "malformed", id: undefined, message: "a message is a JSON object" };
  const { id, method, params } = value;
  const knownId = isId(id) ? id : undefined;
  const malformed = (message: string): Message => ({ is: "malformed", id: knownId, message });
  if (value.jsonrpc !== "2.0") return malformed('"jsonrpc" must be "2.0"');
  if (method === undefined) {
    const isResponse = ("result" in value || "error" in value) && (knownId !== undefined || "error" in value);
    return isResponse ? { is: "response" } : malformed('"method" is missing');
  }
  if (typeof method !== "string") return malformed('"method" must be a string');
  if (params !== undefined && !isFields(params)) return malformed('"params" must be an object');
  if (!("id" in value)) return { is: "notification", method, params: params ?? noParams };
  if (knownId === undefined) return malformed('"id" must be a string or a whole number');
  return { is: "request", id: knownId, method, params: params ?? noParams };
}

/** A reply that says something. */
type Said = Reply & { readonly body: string };

/** @param result JSON text */
export function resultReply(id: RpcId, result: string): Said {
  return { status: 200, body: `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}` };
}

/** @param id `null` where the request's own could not be read; left out where the revision wants it so */
export function errorReply(
  status: number,
  id: RpcId | null | undefined,
  code: number,
  message: string,
  data?: unknown,
): Said {
  return { status, body: JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } }) };
}

/** Text of a notification to the client. */
export function notification(method: string, params: Fields): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(id: unknown): id is RpcId {
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id));
}
