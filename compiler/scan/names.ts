/** Naming rules. Source: `project-layout.md` (slugs), decision 29 (tools), `standards.md` (skills), `extensions.md` (`__`). */
import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import type { Naming, Slot } from "../slots.js";

/** Stands between a mount's namespace and a name; no file of a project may use it. */
export const separator = "__";

const reservedSlugs: readonly string[] = ["v1", "playground", "docs"];
const slugPattern = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

interface Rule {
  readonly allows: (name: string) => boolean;
  readonly wording: string;
  /** Told, and loaded all the same. */
  readonly lenient?: true;
}

const rules: { readonly [K in Naming]: Rule } = {
  tool: { allows: matches(/^[A-Za-z0-9_-]{1,64}$/), wording: "1 to 64 letters, digits, _ and -" },
  segment: {
    allows: matches(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
    wording: "up to 64 letters, digits, _, - and dots, starting with a letter or digit",
  },
  namespace: {
    allows: matches(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9-])?$/),
    wording: "up to 32 letters, digits, _ and -, starting with a letter or digit and not ending in _",
  },
  path: {
    allows: matches(/^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/),
    wording: "letters, digits, _, - and dots in each part",
  },
  skill: {
    allows: (name) => name.length <= 64 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name),
    wording: "up to 64 lower-case letters and digits, with single hyphens between them",
    lenient: true,
  },
  free: { allows: () => true, wording: "anything" },
};

/** What there is to say about the name of an entry. */
export function checkName(name: string, slot: Slot, at: Span): readonly Diagnostic[] {
  if (slot.naming === "free") return [];
  const what = `${slot.kind} name "${name}"`;
  if (name.includes(separator)) {
    const message = `the ${what} contains __, which is reserved for the names of mounted extensions`;
    return [diagnostic("reservedSeparator", { message, at, help: `rename it to ${name.replaceAll(/_{2,}/g, "_")}` })];
  }
  const rule = rules[slot.naming];
  if (rule.allows(name)) return [];
  const help = `use ${rule.wording}`;
  return rule.lenient
    ? [diagnostic("skillName", { message: `the ${what} is outside the SKILL.md convention`, at, help })]
    : [diagnostic("badName", { message: `the ${what} is not allowed`, at, help })];
}

/** The slug of a single project, from its package's name: without scope and accents, every other character a hyphen. */
export function slugOf(packageName: string | undefined): string {
  const bare = (packageName ?? "").replace(/^@[^/]*\//, "");
  const clean = bare
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .replace(/-+$/, "");
  return clean === "" ? "agent" : clean;
}

export function checkSlug(slug: string, at: Span, help: string): readonly Diagnostic[] {
  if (reservedSlugs.includes(slug)) {
    const message = `the slug "${slug}" is reserved: ${reservedSlugs.join(", ")} are routes of the host`;
    return [diagnostic("reservedSlug", { message, at, help })];
  }
  if (slugPattern.test(slug)) return [];
  const message = `"${slug}" can't be a slug: use letters, digits, _ and -, starting with a letter or digit`;
  return [diagnostic("badSlug", { message, at, help })];
}

function matches(pattern: RegExp): (name: string) => boolean {
  return (name) => pattern.test(name);
}
