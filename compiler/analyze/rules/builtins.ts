import { diagnostic } from "../../diagnostics/diagnostic.js";
import { suggest } from "../../diagnostics/suggest.js";
import { builtinTools } from "../builtin-tools.js";
import type { Rule } from "../rule.js";

/** `tools` of an agent allowlists built-in tools; authored ones need no mention. */
export const builtins: Rule = ({ slot, config, at }) => {
  const list = slot.define?.name === "defineAgent" ? config?.get("tools") : undefined;
  if (list === undefined || !Array.isArray(list.literal)) return [];
  const unknown = list.literal.filter((name) => typeof name !== "string" || !allowed.includes(name));
  return unknown.map((name) => {
    const near = typeof name === "string" ? suggest(name, builtinTools) : undefined;
    const help =
      near === undefined
        ? `the built-in tools are ${builtinTools.join(", ")}; tools of your own are always there and not listed`
        : `did you mean ${near}?`;
    return diagnostic("unknownBuiltin", {
      message: `there is no built-in tool ${JSON.stringify(name)}`,
      at: at(list.value),
      help,
    });
  });
};

/** `mcp` is always added to a list, so naming it is harmless. */
const allowed: readonly string[] = [...builtinTools, "mcp"];
