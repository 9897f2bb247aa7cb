import { sessionEventTypes } from "../../../runtime/session/event.js";
import { diagnostic } from "../../diagnostics/diagnostic.js";
import { suggest } from "../../diagnostics/suggest.js";
import type { Rule } from "../rule.js";

/** The keys of `events` are session events, or `*` for all of them. The same map of a channel obeys the same rule. */
export const hookEvents: Rule = ({ definition, slot, config, at }) => {
  if (config === undefined || (slot.kind !== "hook" && slot.kind !== "channel")) return [];
  const events = config.get("events");
  const keys = config.below("events");
  const unknown = keys.filter(({ path }) => path[1] !== "*" && !known.has(path[1] ?? ""));
  const diagnostics = unknown.map(({ path, key }) => {
    const name = path[1] ?? "";
    const near = suggest(name, known);
    const help =
      near === undefined ? `the events are ${[...known].join(", ")}, and * for all` : `did you mean ${near}?`;
    return diagnostic("unknownEvent", { message: `there is no event "${name}"`, at: at(key), help });
  });

  const bare =
    events === undefined ? !config.open : events.object === true && events.open !== true && keys.length === 0;
  if (slot.kind === "hook" && bare) {
    const message = `the hook "${definition.name}" listens to no event and is skipped`;
    const help = 'add a handler to `events`, such as "turn.completed"';
    diagnostics.push(diagnostic("noEvents", { message, at: at(events?.key), help }));
  }
  return diagnostics;
};

const known: ReadonlySet<string> = new Set(sessionEventTypes);
