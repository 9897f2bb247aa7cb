import { sessionEventTypes } from "../../../runtime/session/event.js";
import { suggest } from "../../diagnostics/suggest.js";
import type { Problem } from "../protocol.js";

const known: ReadonlySet<string> = new Set(["*", ...sessionEventTypes]);

/** Names in an `events` map that no event has: written-out ones are known from syntax, computed ones only now. */
export function unknownEvents(names: readonly string[]): readonly Problem[] {
  return names
    .filter((name) => !known.has(name))
    .map((name) => {
      const near = suggest(name, sessionEventTypes);
      const help =
        near === undefined ? `the events are ${sessionEventTypes.join(", ")}, and * for all` : `did you mean ${near}?`;
      return { code: "unknownEvent", path: `events.${name}`, message: `there is no event "${name}"`, help };
    });
}
