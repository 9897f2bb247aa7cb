/**
 * Why a connection could not be used.
 * - `connection_unset`: a variable that it names has no value
 * - `connection_unauthorized`: the server refuses the credentials, or nobody has logged in
 * - `connection_unreachable`: it can't be opened, or broke
 * - `connection_timeout`: no answer in time; whether the call took effect is unknown
 * - `connection_refused`: the server answered with an error of the protocol
 * - `unknown_connection`, `unknown_tool`: there is no such thing
 */
export type ConnectionErrorCode =
  | "connection_unset"
  | "connection_unauthorized"
  | "connection_unreachable"
  | "connection_timeout"
  | "connection_refused"
  | "unknown_connection"
  | "unknown_tool";

/** What a person does about a login that is missing. Errors reach models: they name no connection that is for code alone. */
export function loginCommand({ name, kind }: { readonly name: string; readonly kind: string }): string {
  return `run bdk mcp oauth ${kind === "host-connection" ? "<name>" : name}`;
}

/** A failure of a connection; its message holds no credential. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: ConnectionErrorCode;
  /** The request may have reached the server. */
  readonly isUnknown: boolean;

  constructor(code: ConnectionErrorCode, message: string, options: { readonly isUnknown?: boolean } = {}) {
    super(message);
    this.code = code;
    this.isUnknown = options.isUnknown === true;
  }
}
