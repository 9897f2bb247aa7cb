import { ownSubpath } from "../aliases.js";
import type { Diagnostic } from "../diagnostics/diagnostic.js";
import { slotOf } from "../slots.js";
import { spanOf } from "./at.js";
import type { Definition } from "./definition.js";
import type { ModuleFacts, PropertyFacts } from "./facts.js";
import type { Config, Rule, Subject } from "./rule.js";
import { agentKeys } from "./rules/agent-keys.js";
import { builtins } from "./rules/builtins.js";
import { cron } from "./rules/cron.js";
import { defaultExport } from "./rules/default-export.js";
import { description } from "./rules/description.js";
import { emptyText } from "./rules/empty-text.js";
import { hookEvents } from "./rules/hook-events.js";
import { privateServices } from "./rules/private-services.js";
import { rightHelper } from "./rules/right-helper.js";
import { scheduleForm } from "./rules/schedule-form.js";
import { scheduleFrontMatter } from "./rules/schedule-front-matter.js";
import { skillAttributes } from "./rules/skill-attributes.js";

/** What must hold before a look inside makes sense. */
const outline: readonly Rule[] = [defaultExport, rightHelper];

const contents: readonly Rule[] = [
  description,
  emptyText,
  hookEvents,
  agentKeys,
  privateServices,
  builtins,
  cron,
  scheduleForm,
  scheduleFrontMatter,
  skillAttributes,
];

/** What the rules say about one definition. A module with a syntax error has been reported; nothing else is known of it. */
export function check(definition: Definition, facts: ModuleFacts | undefined): readonly Diagnostic[] {
  if (definition.form === "code" && (facts === undefined || facts.error !== undefined)) return [];
  const subject = toSubject(definition, facts);
  const broken = outline.flatMap((rule) => rule(subject));
  return broken.length > 0 ? broken : contents.flatMap((rule) => rule(subject));
}

function toSubject(definition: Definition, facts: ModuleFacts | undefined): Subject {
  const { file } = definition.entry;
  const slot = slotOf(definition.entry.kind);
  const exported = facts?.exported;
  const config = configOf(definition, facts);
  return {
    definition,
    slot,
    at: (place) => (place === undefined ? definition.span : spanOf(file, place)),
    ...(exported === undefined ? {} : { exported }),
    ...(config === undefined ? {} : { config }),
  };
}

/** The properties handed to the slot's own helper; those of some other factory mean whatever it likes. */
function configOf({ entry }: Definition, facts: ModuleFacts | undefined): Config | undefined {
  const exported = facts?.exported;
  const callee = exported?.callee;
  if (exported === undefined || callee?.from === undefined || ownSubpath(callee.from) === undefined) return undefined;
  if (callee.name !== slotOf(entry.kind).define?.name) return undefined;
  return {
    open: exported.open,
    get: (...path) => exported.properties.find((each) => isAt(each, path) && each.path.length === path.length),
    below: (...path) => exported.properties.filter((each) => isAt(each, path) && each.path.length === path.length + 1),
  };
}

function isAt(property: PropertyFacts, path: readonly string[]): boolean {
  return path.every((part, index) => property.path[index] === part);
}
