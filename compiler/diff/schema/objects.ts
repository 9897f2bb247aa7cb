import { sides } from "../change.js";
import { isObject, type JsonObject, join, list, own, show, unionKeys } from "../json.js";
import type { Branch } from "./branch.js";
import type { SchemaContext } from "./compare.js";
import { type KeywordRule, listed, type Pair, reportKeyword } from "./pair.js";

export const properties: KeywordRule = ({ before, after, path }, context) => {
  const [left, right] = [fields(before), fields(after)];
  for (const name of unionKeys(left, right)) {
    const [old, now] = [own(left, name), own(right, name)];
    const [was, is] = [required(before).has(name), required(after).has(name)];
    const at = join(path, "properties", name);
    if (old === undefined) reportNew(now, is, at, context);
    else if (now === undefined) {
      context.report({ path: at, kind: "removed", phrase: "field removed", meaning: "breaking", before: old });
    } else {
      if (was !== is) {
        const phrase = is ? "now required" : "no longer required";
        const [from, to] = [{ required: was }, { required: is }];
        context.report({ path: at, phrase, meaning: is ? "narrowed" : "widened", before: from, after: to });
      }
      context.compare(old, now, at);
    }
  }
};

function reportNew(schema: unknown, isRequired: boolean, path: string, context: SchemaContext): void {
  const demanded = isRequired && context.use === "input";
  const phrase = demanded ? "new required field" : isRequired ? "new field" : "new optional field";
  context.report({ path, kind: "added", phrase, meaning: demanded ? "breaking" : "compatible", after: schema });
}

/** `properties` reports what is required; this speaks only where neither side has any property. */
export const requiredAlone: KeywordRule = (pair, context) => {
  const declared = [pair.before, pair.after].some((branch) => own(branch.keywords, "properties") !== undefined);
  if (!declared) properties(pair, context);
};

/** Properties with their schemas; one that is only required may be anything. */
function fields(branch: Branch): JsonObject {
  const declared = own(branch.keywords, "properties");
  const result = new Map<string, unknown>([...required(branch)].map((name) => [name, true]));
  if (isObject(declared)) for (const [name, schema] of Object.entries(declared)) result.set(name, schema);
  return Object.fromEntries(result);
}

function required(branch: Branch): ReadonlySet<string> {
  return new Set(listed(own(branch.keywords, "required")).filter((name) => typeof name === "string"));
}

/** Also `unevaluatedProperties`. */
export const additionalProperties: KeywordRule = (pair, context) => {
  const { keyword, left, right, path } = pair;
  if (left === false && right === false) return;
  if (left !== undefined && right !== undefined && left !== false && right !== false) {
    context.compare(left, right, join(path, keyword));
  } else if (left === false || right === false) reportClosing(pair, context);
  else {
    const phrase = left === undefined ? "additional fields now have a schema" : "additional fields lost their schema";
    reportKeyword(pair, left === undefined ? "narrowed" : "widened", context, phrase);
  }
};

/**
 * A reader of output skips fields it does not know, so an open object is as good as a closed one; only a record whose
 * values had a schema loses something when it is closed.
 */
function reportClosing(pair: Pair, context: SchemaContext): void {
  const closed = pair.right === false;
  const phrase = closed ? "additional fields no longer allowed" : "additional fields now allowed";
  if (context.use === "input") reportKeyword(pair, closed ? "narrowed" : "widened", context, phrase);
  else reportKeyword(pair, closed && pair.left !== undefined ? "breaking" : "compatible", context, phrase);
}

/** `patternProperties`, `dependentSchemas`: each name stands for a constraint of its own. */
export const schemaMap: KeywordRule = ({ keyword, left, right, path }, context) => {
  const [before, after] = [isObject(left) ? left : {}, isObject(right) ? right : {}];
  for (const name of unionKeys(before, after)) {
    const [old, now] = [own(before, name), own(after, name)];
    const at = join(path, keyword, name);
    if (old !== undefined && now !== undefined) context.compare(old, now, at);
    else {
      const [kind, phrase] =
        old === undefined ? (["added", `new ${keyword}`] as const) : (["removed", `${keyword} removed`] as const);
      context.report({ path: at, kind, phrase, meaning: "unclear", ...sides(old, now) });
    }
  }
};

export const dependentRequired: KeywordRule = ({ keyword, left, right, path }, context) => {
  const [before, after] = [isObject(left) ? left : {}, isObject(right) ? right : {}];
  for (const name of unionKeys(before, after)) {
    const [old, now] = [listed(own(before, name)), listed(own(after, name))];
    const fresh = now.filter((each) => !old.includes(each));
    const gone = old.filter((each) => !now.includes(each));
    const both = { path: join(path, keyword, name), before: old, after: now };
    if (fresh.length > 0) {
      context.report({ ...both, phrase: `${show(name)} now also needs ${list(fresh)}`, meaning: "narrowed" });
    }
    if (gone.length > 0) {
      context.report({ ...both, phrase: `${show(name)} no longer needs ${list(gone)}`, meaning: "widened" });
    }
  }
};
