import { equal, join } from "../json.js";
import { acceptsAll, type Branch, type Branches, tags } from "./branch.js";
import type { SchemaContext } from "./compare.js";
import { compareAnnotations, compareBranches } from "./compare-branch.js";

export function compareUnions(before: Branches, after: Branches, path: string, context: SchemaContext): void {
  compareAnnotations(before.annotations, after.annotations, path, context);
  const [first, second] = [before.list, after.list];
  const [only, other] = [first[0], second[0]];
  if (first.length === 1 && second.length === 1 && only !== undefined && other !== undefined) {
    compareBranches(only, other, path, context);
    return;
  }
  const opened = second.some(acceptsAll);
  if (opened !== first.some(acceptsAll)) {
    const phrase = opened ? "any value now allowed" : "no longer any value";
    context.report({ path: join(path, "type"), phrase, meaning: opened ? "widened" : "narrowed" });
    return;
  }
  const label = labeller(before, after, context);
  const pairs = pairUp(first, second, label);
  const names = new Set([...first, ...second].map(label).filter((name) => name !== "null"));
  for (const { name, before: left, after: right } of pairs) {
    const at = name === "null" || names.size === 1 ? path : join(path, "anyOf", name);
    if (left !== undefined && right !== undefined) compareBranches(left, right, at, context);
    else reportAlternative(left, right, name, join(path, "anyOf", name), context);
  }
  if (before.exclusive !== after.exclusive && !allDistinct(first, label) && !allDistinct(second, label)) {
    const [from, to] = after.exclusive ? ["anyOf", "oneOf"] : ["oneOf", "anyOf"];
    const meaning = after.exclusive ? "narrowed" : "widened";
    context.report({ path: join(path, "oneOf"), phrase: `${from} became ${to}`, meaning });
  }
}

function allDistinct(branches: readonly Branch[], label: (branch: Branch) => string): boolean {
  return new Set(branches.map(label)).size === branches.length;
}

/** Names a branch by its type and, for tagged unions, by the tag that every object branch on both sides has. */
function labeller(before: Branches, after: Branches, context: SchemaContext): (branch: Branch) => string {
  const known = new Map([...tags(before.list, context.before), ...tags(after.list, context.after)]);
  const sets = [...known.values()];
  const tag = [...(sets[0]?.keys() ?? [])].sort().find((name) => sets.every((each) => each.has(name)));
  return (branch) => {
    const value = tag === undefined ? undefined : known.get(branch)?.get(tag);
    return value === undefined ? branch.type : `${tag}=${value}`;
  };
}

interface BranchPair {
  readonly name: string;
  readonly before?: Branch;
  readonly after?: Branch;
}

/** Equal branches of a label first, then in order. */
function pairUp(before: readonly Branch[], after: readonly Branch[], label: (branch: Branch) => string): BranchPair[] {
  const names = [...new Set([...before, ...after].map(label))].sort();
  return names.flatMap((name) => {
    const left = before.filter((branch) => label(branch) === name);
    const right = after.filter((branch) => label(branch) === name);
    const pairs: BranchPair[] = [];
    for (const branch of [...left]) {
      const same = right.findIndex((other) => equal(branch, other));
      const twin = right[same];
      if (twin === undefined) continue;
      pairs.push({ name, before: branch, after: twin });
      left.splice(left.indexOf(branch), 1);
      right.splice(same, 1);
    }
    for (let index = 0; index < Math.max(left.length, right.length); index++) {
      const [one, two] = [left[index], right[index]];
      pairs.push({ name, ...(one === undefined ? {} : { before: one }), ...(two === undefined ? {} : { after: two }) });
    }
    return pairs;
  });
}

function reportAlternative(
  before: Branch | undefined,
  after: Branch | undefined,
  name: string,
  path: string,
  context: SchemaContext,
): void {
  const what = name === "null" ? "null" : `the alternative ${name}`;
  if (before === undefined) {
    context.report({ path, kind: "added", phrase: `${what} now allowed`, meaning: "widened", after: written(after) });
  } else {
    context.report({
      path,
      kind: "removed",
      phrase: `${what} no longer allowed`,
      meaning: "narrowed",
      before: written(before),
    });
  }
}

/** The branch as a schema again, for `before` and `after`. */
function written(branch: Branch | undefined): unknown {
  if (branch === undefined) return false;
  const { type, integer, values, keywords } = branch;
  return {
    ...(type === "any" ? {} : { type: integer ? "integer" : type }),
    ...(values === undefined ? {} : { enum: values }),
    ...keywords,
  };
}
