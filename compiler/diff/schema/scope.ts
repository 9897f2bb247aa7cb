import { isObject, type JsonObject, own } from "../json.js";

/** A whole schema document: what its local references mean. */
export interface Scope {
  readonly root: unknown;
  /** Drafts up to 7 ignore what stands beside a `$ref`. */
  readonly refHidesSiblings: boolean;
  /** What a local reference names; undefined when it leads nowhere or out of the document. */
  lookup(ref: string): unknown;
}

export function createScope(root: unknown): Scope {
  const anchors = new Map<string, unknown>();
  collectAnchors(root, anchors);
  const id = isObject(root) && typeof own(root, "$id") === "string" ? String(own(root, "$id")) : undefined;
  return {
    root,
    refHidesSiblings: isObject(root) && /draft-0[3467]/.test(String(own(root, "$schema") ?? "")),
    lookup(ref) {
      const local = id !== undefined && ref.startsWith(`${id}#`) ? ref.slice(id.length) : ref;
      if (local === "#" || local === id) return root;
      if (local.startsWith("#/")) return followPointer(root, local.slice(2));
      return local.startsWith("#") ? anchors.get(local.slice(1)) : undefined;
    },
  };
}

function followPointer(root: unknown, pointer: string): unknown {
  let value = root;
  for (const raw of pointer.split("/")) {
    const key = decodeSegment(raw);
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isObject(value)) value = own(value, key);
    else return undefined;
  }
  return value;
}

function decodeSegment(raw: string): string {
  const text = /%[0-9a-f]{2}/i.test(raw) ? safeDecode(raw) : raw;
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** A malformed percent escape stands for itself. */
function safeDecode(raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch (error) {
    if (error instanceof URIError) return raw;
    throw error;
  }
}

function collectAnchors(value: unknown, anchors: Map<string, unknown>): void {
  if (Array.isArray(value)) {
    for (const item of value) collectAnchors(item, anchors);
  } else if (isObject(value)) {
    for (const name of anchorNames(value)) if (!anchors.has(name)) anchors.set(name, value);
    for (const key of Object.keys(value)) collectAnchors(own(value, key), anchors);
  }
}

function anchorNames(schema: JsonObject): string[] {
  const names: string[] = [];
  const anchor = own(schema, "$anchor");
  const id = own(schema, "$id");
  if (typeof anchor === "string") names.push(anchor);
  if (typeof id === "string" && id.startsWith("#")) names.push(id.slice(1));
  return names;
}
