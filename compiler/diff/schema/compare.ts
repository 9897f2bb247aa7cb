import type { ChangeKind, Finding, Level } from "../change.js";
import { canonical, equal, split } from "../json.js";
import { branchesOf } from "./branch.js";
import { compareUnions } from "./compare-union.js";
import { createScope, type Scope } from "./scope.js";

/** Who stands where: callers write what an `input` schema describes and read what an `output` schema describes. */
export type Use = "input" | "output";

/**
 * What a change does to the set of accepted values. `unclear` is what no rule can place and counts as the worst;
 * `neutral` changes no value's fate.
 */
export type Meaning = "narrowed" | "widened" | "unclear" | "neutral";

export interface SchemaContext {
  readonly use: Use;
  readonly before: Scope;
  readonly after: Scope;
  report(finding: SchemaFinding): void;
  /** Compares two subschemas; an absent one accepts everything. */
  compare(before: unknown, after: unknown, path: string): void;
  /** The same without reporting: whether some value may be judged differently. */
  differs(before: unknown, after: unknown, path: string): boolean;
}

export interface SchemaFinding {
  readonly path: string;
  /** Words after the field's name: `new required field`. */
  readonly phrase: string;
  /** A meaning, which the use turns into a level, or the level itself. */
  readonly meaning: Meaning | Level;
  readonly kind?: ChangeKind;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly textDiff?: string;
}

/** Comparisons of one schema pair after which it is taken as a whole; real ones need a few hundred. */
const maxComparisons = 5_000;

/**
 * Compares two JSON Schemas of any draft as their callers see them. Every difference yields at least one finding:
 * what changes no accepted value is reported as such.
 *
 * @example compareSchemas({ type: "string" }, { enum: ["a"] }, "input", "/inputSchema") // breaking
 */
export function compareSchemas(before: unknown, after: unknown, use: Use, path: string): Finding[] {
  const comparison = new Comparison(before, after, use, path);
  comparison.compare(before, after, path);
  return comparison.finish();
}

class Comparison implements SchemaContext {
  readonly before: Scope;
  readonly after: Scope;
  #found: SchemaFinding[] = [];
  /** Pairs being compared further up: a recursive schema meets itself and is assumed equal there. */
  readonly #open = new Set<string>();
  #left = maxComparisons;

  constructor(
    readonly rootBefore: unknown,
    readonly rootAfter: unknown,
    readonly use: Use,
    readonly root: string,
  ) {
    this.before = createScope(rootBefore);
    this.after = createScope(rootAfter);
  }

  report(finding: SchemaFinding): void {
    this.#found.push(finding);
  }

  differs(before: unknown, after: unknown, path: string): boolean {
    const outer = this.#found;
    this.#found = [];
    this.compare(before, after, path);
    const differs = this.#found.some((finding) => finding.meaning !== "neutral");
    this.#found = outer;
    return differs;
  }

  compare(before: unknown = true, after: unknown = true, path: string): void {
    const [left, right] = [canonical(before), canonical(after)];
    if (left === right && !left.includes('"$ref"')) return;
    const pair = `${left}\n${right}`;
    if (this.#open.has(pair)) return;
    if (this.#left-- <= 0) {
      if (left !== right)
        this.report({ path, phrase: "changed, too large to classify", meaning: "unclear", before, after });
      return;
    }
    this.#open.add(pair);
    compareUnions(branchesOf(before, this.before), branchesOf(after, this.after), path, this);
    this.#open.delete(pair);
  }

  finish(): Finding[] {
    if (this.#found.length === 0 && !equal(this.rootBefore, this.rootAfter)) {
      const [before, after] = [this.rootBefore, this.rootAfter];
      const phrase = "written differently, with the same meaning";
      this.report({ path: this.root, phrase, meaning: "neutral", before, after });
    }
    return this.#found.map(({ phrase, meaning, kind = "changed", ...rest }) => ({
      ...rest,
      kind,
      level: levelOf(meaning, this.use),
      message: `${subject(rest.path.slice(this.root.length), this.use)}: ${phrase}`,
    }));
  }
}

function levelOf(meaning: Meaning | Level, use: Use): Level {
  switch (meaning) {
    case "narrowed":
      return use === "input" ? "breaking" : "compatible";
    case "widened":
      return use === "input" ? "compatible" : "breaking";
    case "unclear":
      return "breaking";
    case "neutral":
      return "compatible";
    default:
      return meaning;
  }
}

/** `input steps[].name` for `/properties/steps/items/properties/name/maxLength`. */
function subject(path: string, use: Use): string {
  const segments = split(path);
  let name = "";
  for (let index = 0; index < segments.length; index++) {
    const segment = segments[index];
    const takesName = segment === "properties" || segment === "patternProperties" || segment === "anyOf";
    const next = takesName ? segments[++index] : undefined;
    if (next !== undefined && segment === "anyOf") name += `<${next}>`;
    else if (next !== undefined)
      name += `${name === "" ? "" : "."}${/^[\w$-]+$/.test(next) ? next : JSON.stringify(next)}`;
    else if (segment === "items" || segment === "prefixItems") name += "[]";
    else if (segment === "additionalProperties") name += "{}";
  }
  return name === "" ? use : `${use} ${name}`;
}
