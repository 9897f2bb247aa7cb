import { ownSubpath } from "../../aliases.js";
import { type Diagnostic, diagnostic } from "../../diagnostics/diagnostic.js";
import { type Kind, type Slot, labelOf as slotLabel, slotOf, slots } from "../../slots.js";
import type { ExportFacts } from "../facts.js";
import type { Rule, Subject } from "../rule.js";

/**
 * The default export calls the slot's helper, or something that only running it can tell (`memoryHook()`, a factory of
 * the project). What syntax already shows to be another kind of thing is refused here.
 */
export const rightHelper: Rule = (subject) => {
  const { slot, exported } = subject;
  if (exported === undefined || slot.define === undefined) return [];
  if (exported.form === "call") return checkCall(subject, exported, slot.define);
  if (exported.form === "opaque" || slot.plain?.some((form) => form === exported.form)) return [];
  const what =
    exported.what ??
    (exported.form === "text" ? "a string" : exported.form === "array" ? "an array" : "a plain object");
  return [wrong(subject, exported, `is ${what}`)];
};

function checkCall(
  subject: Subject,
  { callee, ...exported }: ExportFacts,
  helper: NonNullable<Slot["define"]>,
): readonly Diagnostic[] {
  if (callee === undefined) return [];
  if (callee.undeclared) {
    if (!helperNames.has(callee.name)) return [];
    const home = helperHomes.get(callee.name) ?? helper.from;
    return [
      diagnostic("helperNotImported", {
        message: `${callee.name} is called, but not imported`,
        at: subject.at(callee.place),
        help: `add \`import { ${callee.name} } from "@cursor/bdk${home.slice(1)}"\``,
      }),
    ];
  }
  if (callee.from === undefined || ownSubpath(callee.from) === undefined || callee.name === helper.name) return [];
  const disables = /^disable(?:[A-Z]|$)/.test(callee.name);
  if (disables && subject.definition.entry.layer === "overlay") return checkDisable(subject, exported, callee.name);
  return helperNames.has(callee.name) || disables ? [wrong(subject, exported, `calls ${callee.name}`)] : [];
}

/** One helper a slot, so that a file in the wrong folder is noticed; `disable()` fits wherever it stands. */
function checkDisable(
  { definition, at }: Subject,
  exported: Omit<ExportFacts, "callee">,
  called: string,
): readonly Diagnostic[] {
  const { kind, file } = definition.entry;
  const fitting = disableHelpers[kind] ?? [];
  if (called === "disable" || fitting.includes(called)) return [];
  const [meant] = Object.entries(disableHelpers).find(([, helpers]) => helpers.includes(called)) ?? [];
  const move = meant === undefined ? "" : `, or move it to ${slotLabel(slotOf(meant as Kind))}`;
  return [
    diagnostic("wrongDisable", {
      message: `${called} removes something else: ${file} stands for ${labelled(kind)}`,
      at: at(exported.place),
      help: `call ${fitting[0] ?? "disable"}()${move}`,
    }),
  ];
}

const disableHelpers: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  instructions: ["disableInstructions"],
  tool: ["disableTool"],
  skill: ["disableSkill"],
  hook: ["disableHook"],
  channel: ["disableChannel"],
  schedule: ["disableSchedule"],
  subagent: ["disableSubagent"],
  artifacts: ["disableArtifacts"],
  "mcp-connection": ["disableConnection", "disableMcpConnection"],
  "host-connection": ["disableHostConnection"],
};

function wrong({ definition, slot, at }: Subject, exported: Omit<ExportFacts, "callee">, found: string): Diagnostic {
  const helper = slot.define?.name ?? "";
  const called = found.replace(/^calls /, "");
  const home = slots.find((each) => each.define?.name === called && each.kind !== "subagent");
  const hint = home === undefined ? "" : `, or move the file to ${home.path}${home.shape === "file" ? ".ts" : "/"}`;
  return diagnostic("wrongDefine", {
    message: `the default export of ${labelled(definition.entry.kind)} must call ${helper}, but this one ${found}`,
    at: at(exported.place),
    help: `export the result of ${helper}(…)${hint}`,
  });
}

function labelled(kind: string): string {
  if (kind === "artifacts" || kind === "instructions") return kind;
  return `${/^(?:[aeiou]|mcp)/.test(kind) ? "an" : "a"} ${kind}`;
}

const helperHomes = new Map(
  slots.flatMap(({ define }) => (define === undefined ? [] : [[define.name, define.from] as const])),
);
const helperNames: ReadonlySet<string> = new Set(helperHomes.keys());
