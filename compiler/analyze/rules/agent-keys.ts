import { type Diagnostic, diagnostic } from "../../diagnostics/diagnostic.js";
import { suggest } from "../../diagnostics/suggest.js";
import type { Literal, PropertyFacts } from "../facts.js";
import type { Rule } from "../rule.js";

/** What `defineAgent` takes. Source: `api-facts.md` §1. */
const keys: readonly string[] = [
  "model",
  "modelFallbacks",
  "name",
  "description",
  "instructions",
  "tools",
  "builtinTools",
  "local",
  "persistent",
  "hosting",
  "concurrency",
];

/** Keys of earlier versions that are taken and mean nothing any more. */
const legacy: readonly string[] = ["architecture", "runtime", "cloud"];

/** Runtimes that live on Cursor's side. */
const privateRuntimes: readonly (Literal | undefined)[] = ["grokbot", "cloud"];

export const agentKeys: Rule = ({ slot, config, at }) => {
  if (config === undefined || slot.define?.name !== "defineAgent") return [];
  const diagnostics: Diagnostic[] = [];
  const leftovers: PropertyFacts[] = [];
  for (const property of config.below()) {
    const name = property.path[0] ?? "";
    // Both are settled by the rule on private services.
    if (name === "cursorAccount" || (name === "runtime" && privateRuntimes.includes(property.literal))) continue;
    if (legacy.includes(name)) leftovers.push(property);
    else if (!keys.includes(name)) {
      const near = suggest(name, keys);
      const help = near === undefined ? `the keys are ${keys.join(", ")}` : `did you mean ${near}?`;
      diagnostics.push(
        diagnostic("unknownAgentKey", { message: `defineAgent has no key "${name}"`, at: at(property.key), help }),
      );
    }
  }
  const [first, ...others] = leftovers;
  if (first === undefined) return diagnostics;
  const names = leftovers.map(({ path }) => path[0]).join(", ");
  const verb = others.length === 0 ? "is a key" : "are keys";
  return [
    ...diagnostics,
    diagnostic("legacyKey", {
      message: `${names} ${verb} of an earlier version and ${others.length === 0 ? "has" : "have"} no effect`,
      at: [first, ...others].map((each) => ({ span: at(each.key), primary: each === first })),
      help: others.length === 0 ? "delete it" : "delete them",
    }),
  ];
};
