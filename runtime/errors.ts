/**
 * The runtime's one error type. Every failure that reaches a caller carries a stable code from this table.
 * Source of the rule: `wire.md` (errors), `http-api.md` (status codes).
 */
const statusByCode = {
  invalid_request: 400,
  invalid_input: 400,
  invalid_as_of: 400,
  invalid_continuation_token: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unknown_tool: 404,
  method_not_allowed: 405,
  stale_continuation_token: 409,
  session_busy: 409,
  session_not_followable: 409,
  approval_resolved: 409,
  approval_required: 403,
  unknown_handler: 404,
  token_in_use: 409,
  payload_too_large: 413,
  rate_limited: 429,
  auth_unavailable: 503,
  model_unavailable: 503,
  workspace_unavailable: 500,
  storage_unavailable: 503,
  internal: 500,
} as const;

export type ErrorCode = keyof typeof statusByCode;

/** Each section of a built server holds a copy of this class: what one throws, another knows by this. */
const brand: unique symbol = Symbol.for("@cursor/bdk/runtime-error") as never;

/**
 * An expected failure with a stable code. `details` are extra body fields (`available`, `issues`).
 *
 * @example throw new RuntimeError("unknown_tool", 'no tool named "x"', { available: ["inspect_pr"] })
 */
export class RuntimeError extends Error {
  override readonly name = "RuntimeError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>>;
  readonly [brand] = true;

  static override [Symbol.hasInstance](value: unknown): value is RuntimeError {
    return typeof value === "object" && value !== null && brand in value;
  }

  constructor(code: ErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = statusByCode[code];
    this.details = details;
  }

  /** The JSON body of the error: `{ ok: false, error, message, … }`. */
  toBody(): Record<string, unknown> {
    return { ok: false, error: this.code, message: this.message, ...this.details };
  }
}
