import { builtinTools } from "../../analyze/builtin-tools.js";
import { diagnostic } from "../../diagnostics/diagnostic.js";
import type { Rule } from "../rule.js";

/** A tool of the project's own takes the place of a built-in one of that name. Source: decision 5. */
export const builtinNames: Rule = ({ entries }) =>
  entries
    .filter(({ winner }) => winner.entry.kind === "tool" && names.has(winner.name))
    .map(({ winner }) =>
      diagnostic("shadowsBuiltin", {
        message: `the tool "${winner.name}" takes the place of the built-in one`,
        at: winner.span,
        help: "rename it, unless that is what you want",
      }),
    );

const names: ReadonlySet<string> = new Set(builtinTools);
