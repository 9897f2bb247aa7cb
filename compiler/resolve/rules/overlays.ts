import type { Definition } from "../../analyze/definition.js";
import { type Diagnostic, diagnostic } from "../../diagnostics/diagnostic.js";
import { suggest } from "../../diagnostics/suggest.js";
import { titleOf } from "../../scan/package-json.js";
import type { TreeMount } from "../../scan/tree.js";
import { labelOf, slotOf } from "../../slots.js";
import { covers } from "../layers.js";
import type { Rule } from "../rule.js";

/** An overlay stands on something that its extension brings. */
export const overlays: Rule = ({ agent, definitions }) =>
  definitions.flatMap((overlay) => {
    const { layer, mount: namespace } = overlay.entry;
    const mount = agent.mounts.find((each) => each.namespace === namespace);
    // What an extension brings that could not be found is not known either.
    if (layer !== "overlay" || mount === undefined || mount.form === "unknown") return [];
    const brought = definitions.filter(({ entry }) => entry.layer === "extension" && entry.mount === namespace);
    const standsOn = brought.some((each) => each.id === owner(overlay) || covers(overlay, each));
    return standsOn ? [] : [ofNothing(overlay, brought, mount)];
  });

/** Instructions of an overlaid subagent go with it, whether its package had any of their own or not. */
function owner({ id, entry }: Definition): string {
  return entry.subagent === undefined ? id : id.slice(0, id.indexOf("/instructions"));
}

function ofNothing(overlay: Definition, brought: readonly Definition[], mount: TreeMount): Diagnostic {
  const { kind, name, file } = overlay.entry;
  const { package: of } = mount;
  const title = of === undefined ? `the extension "${mount.namespace}"` : titleOf(of);
  const what = name === "" ? kind : `${kind} "${name}"`;
  return diagnostic("overlayOfNothing", {
    message: `${file} overlays the ${what}, and ${title} has none`,
    at: overlay.span,
    help: helpFor(overlay, brought),
  });
}

function helpFor({ entry: { kind, name } }: Definition, brought: readonly Definition[]): string {
  const sameKind = namesOf(brought.filter(({ entry }) => entry.kind === kind));
  const near = suggest(name, sameKind);
  if (near !== undefined) return `did you mean ${near}?`;
  const elsewhere = brought.find(({ entry }) => entry.name === name && entry.kind !== kind);
  if (elsewhere !== undefined && name !== "") {
    const { kind: other } = elsewhere.entry;
    return `it has the ${other} "${name}": did you mean ${labelOf(slotOf(other))}?`;
  }
  const place = `to add something of your own, put it in ${labelOf(slotOf(kind))} of the bot`;
  return sameKind.length === 0 ? place : `there is ${sameKind.join(", ")}; ${place}`;
}

function namesOf(definitions: readonly Definition[]): readonly string[] {
  return definitions.map(({ entry }) => entry.name).filter((name) => name !== "");
}
