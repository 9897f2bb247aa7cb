import { diagnostic } from "../../diagnostics/diagnostic.js";
import type { Rule } from "../rule.js";

/** A module in a slot's folder is a definition, and the definition is its default export. */
export const defaultExport: Rule = ({ definition, slot, exported, at }) => {
  if (definition.form !== "code" || exported !== undefined || slot.define === undefined) return [];
  const { file } = definition.entry;
  return [
    diagnostic("noDefaultExport", {
      message: `${file} has no default export`,
      at: at(),
      help: `add \`export default ${slot.define.name}(…)\`, or move shared code to lib/`,
    }),
  ];
};
