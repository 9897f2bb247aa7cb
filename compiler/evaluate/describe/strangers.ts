import type { Problem } from "../protocol.js";
import { isObject } from "./shape.js";

/** Which zod made a schema. */
type Generation = 3 | 4;

/** Keys of a definition, of either generation, that hold schemas when they hold objects. */
const inner = [
  "innerType",
  "element",
  "type",
  "schema",
  "keyType",
  "valueType",
  "left",
  "right",
  "in",
  "out",
  "rest",
] as const;

/** Deeper than this nobody nests, unless a schema contains itself. */
const deepest = 16;

/** Fields of a zod schema that are no schema of its own generation, which no zod can read: it throws, or takes anything. */
export function strangers(schema: object, field: string): readonly Problem[] {
  const generation = generationOf(schema);
  if (generation === undefined) return [];
  const found: Problem[] = [];
  const seen = new Set<unknown>();
  const walk = (value: unknown, path: string, depth: number): void => {
    if (seen.has(value) || depth > deepest) return;
    if (isObject(value) || typeof value === "function") seen.add(value);
    const own = generationOf(value);
    if (own === generation) {
      for (const [name, child] of childrenOf(value as object)) walk(child, `${path}${name}`, depth + 1);
      return;
    }
    found.push({
      code: "unknownSchema",
      path,
      message:
        own === undefined
          ? `${path} is no schema, but ${value === null ? "null" : typeof value}`
          : `${path} is a schema of zod ${own} inside one of zod ${generation}`,
      help: own === undefined ? "for example z.string()" : "make both with one zod",
    });
  };
  walk(schema, field, 0);
  return found;
}

function generationOf(value: unknown): Generation | undefined {
  if (!isObject(value) && typeof value !== "function") return undefined;
  if (isObject(Reflect.get(value, "_zod"))) return 4;
  const def: unknown = Reflect.get(value, "_def");
  return isObject(def) && typeof def.typeName === "string" ? 3 : undefined;
}

function childrenOf(schema: object): readonly (readonly [string, unknown])[] {
  const zod: unknown = Reflect.get(schema, "_zod");
  const def: unknown = isObject(zod) ? zod.def : Reflect.get(schema, "_def");
  if (!isObject(def)) return [];
  const shape: unknown = typeof def.shape === "function" ? def.shape() : def.shape;
  const fields = isObject(shape) ? Object.entries(shape).map(([name, each]) => [`.${name}`, each] as const) : [];
  const wrapped = inner.map((key) => [key === "element" || key === "type" ? "[]" : "", def[key]] as const);
  const listed = [def.options, def.items].flatMap((each) => (Array.isArray(each) ? each : []));
  // What is absent here is optional there; a field of an object that is absent is a mistake.
  return [
    ...fields,
    ...[...wrapped, ...listed.map((each) => ["", each] as const)].filter(([, each]) => isObject(each)),
  ];
}
