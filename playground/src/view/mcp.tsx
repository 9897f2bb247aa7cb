import { useState } from "preact/hooks";
import { urlOf } from "../api.js";

const endpoints = [
  ["/v1/mcp", "hand this bot a task: ask, check, call_tool"],
  ["/v1/mcp/tools", "its tools alone"],
] as const;

/** Where MCP clients find this bot. */
export function McpEndpoints() {
  const [copied, setCopied] = useState<string>();
  const copy = async (url: string) => {
    await navigator.clipboard.writeText(url);
    setCopied(url);
  };
  return (
    <section aria-label="MCP endpoints">
      <h3>MCP endpoints</h3>
      {endpoints.map(([path, purpose]) => {
        const url = urlOf(path);
        return (
          <p key={path}>
            <code>{url}</code> <span class="note">{purpose}</span>{" "}
            {/* Pages that came without TLS from elsewhere have no clipboard. */}
            {navigator.clipboard === undefined ? null : (
              <button type="button" onClick={() => void copy(url)}>
                {copied === url ? "Copied" : "Copy"}
              </button>
            )}
          </p>
        );
      })}
    </section>
  );
}
