/** Revisions of the Model Context Protocol that the endpoints speak, and the numbers of its errors. */

/**
 * `modern`: every request says its version and the client's capabilities itself. `legacy`: a client opens with
 * `initialize`; since nothing of it has to be remembered here, these requests stand alone too.
 */
export type Era = "modern" | "legacy";

export const modernVersion = "2026-07-28";

/** Newest first; what `initialize` answers to a version nobody knows is the first. */
export const legacyVersions: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26"];

export const supportedVersions: readonly string[] = [modernVersion, ...legacyVersions];

/** The one revision with batches; also what a request without a version header is taken for, as later revisions say. */
export const batchVersion = "2025-03-26";

/** JSON-RPC's codes, and those of MCP 2026-07-28 (`basic/index`, Error Codes). */
export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
  /** Our own, outside all reserved ranges. */
  cancelled: -32800,
} as const;

/** Keys of `_meta` that carry the protocol. */
export const metaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  progressToken: "progressToken",
} as const;

/** From chatty to grave. */
export const logLevels: readonly string[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];
