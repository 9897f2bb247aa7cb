/** Values of `Mcp-Name` and `Mcp-Param-*` headers. Source: MCP 2026-07-28, `streamable-http` (Value Encoding). */

const wrapped = /^=\?base64\?(.*)\?=$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Visible ASCII, space and tab. */
const plain = /^[\t\x20-\x7e]*$/;

/**
 * The value that a header stands for; `undefined` when it is not written as the protocol says.
 *
 * @example decodeHeaderValue("=?base64?SGVsbG8=?=") // "Hello"
 */
export function decodeHeaderValue(header: string): string | undefined {
  if (!plain.test(header)) return undefined;
  const inner = wrapped.exec(header)?.[1];
  if (inner === undefined) return header;
  if (!base64.test(inner)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(inner, "base64"));
  } catch {
    return undefined; // bytes that are no UTF-8 stand for nothing
  }
}
