import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Change } from "../../compiler/diff/change.js";
import { diff } from "../../compiler/diff/diff.js";
import { type Manifest, manifest } from "../../runtime/manifest/schema.js";
import { anyManifest } from "./manifest-arbitrary.js";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Every place of a JSON value that can be changed by itself, as key paths; lists and objects can also lose or gain one. */
function places(value: Json, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item, index) => places(item, [...path, index]))];
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, item]) => [
      [...path, key],
      ...places(item, [...path, key]).slice(isLeaf(item) ? 1 : 0),
    ]);
  }
  return [path];
}

function isLeaf(value: Json): boolean {
  return typeof value !== "object" || value === null;
}

function mutate(value: Json, path: readonly (string | number)[], seed: number): Json {
  const [head, ...tail] = path;
  if (head === undefined) return change(value, seed);
  if (Array.isArray(value)) return value.map((item, index) => (index === head ? mutate(item, tail, seed) : item));
  if (typeof value !== "object" || value === null) throw new Error("the path leaves the value");
  if (tail.length === 0 && seed % 3 === 0)
    return Object.fromEntries(Object.entries(value).filter(([key]) => key !== head));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === head ? mutate(item, tail, seed) : item]),
  );
}

function change(value: Json, seed: number): Json {
  if (typeof value === "string") return `${value}~`;
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (value === null) return false;
  if (Array.isArray(value))
    return value.length > 0 && seed % 2 === 0 ? value.slice(1) : [...value, seed % 5 === 0 ? 7 : "added"];
  return { ...value, added: true };
}

/** The parts of a change that a swap of the sides must keep, or turn round. */
function facts(each: Change) {
  const { kind, agent, previousAgent, entry, previousEntry, path, before, after, package: from } = each;
  return { kind, agent, previousAgent, entry, previousEntry, path, before, after, package: from };
}

/** The same, seen from the other side. */
function mirrored(each: Change) {
  const { kind, agent, previousAgent, entry, previousEntry, path, before, after, package: from } = facts(each);
  return {
    kind: kind === "added" ? "removed" : kind === "removed" ? "added" : kind,
    agent: previousAgent ?? agent,
    previousAgent: previousAgent === undefined ? undefined : agent,
    entry: previousEntry ?? entry,
    previousEntry: previousEntry === undefined ? undefined : entry,
    path,
    before: after,
    after: before,
    package: from === undefined ? undefined : { before: from.after, after: from.before },
  };
}

const text = (values: readonly unknown[]) => values.map((value) => JSON.stringify(sortKeys(value))).sort();

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  );
}

describe("diff() of any manifests", () => {
  it("says nothing of equal ones", () => {
    fc.assert(
      fc.property(anyManifest, (value) => {
        expect(diff(value, structuredClone(value))).toEqual([]);
      }),
    );
  });

  it("reports every single-field mutation", () => {
    const mutation = fc.tuple(anyManifest, fc.nat(), fc.nat()).map(([before, which, seed]) => {
      const json = JSON.parse(JSON.stringify(before)) as Json;
      const all = places(json).filter((path) => path.length > 0);
      return [
        before,
        mutate(json, all[which % all.length] ?? [], seed) as unknown as Manifest,
        all[which % all.length],
      ] as const;
    });
    const valid = mutation.filter(([, after]) => manifest.safeParse(after).success);
    fc.assert(
      fc.property(valid, ([before, after, path]) => {
        const same = JSON.stringify(sortKeys(before)) === JSON.stringify(sortKeys(after));
        expect(diff(before, after).length > 0, `silent about ${JSON.stringify(path)}`).toBe(!same);
      }),
      { numRuns: 200 },
    );
  }, 120_000);

  it("mirrors when the sides are swapped", () => {
    fc.assert(
      fc.property(anyManifest, anyManifest, (before, after) => {
        expect(text(diff(before, after).map(mirrored))).toEqual(text(diff(after, before).map(facts)));
      }),
    );
  });

  it("mirrors when several mounts have one id, and when names hold line breaks", () => {
    const agent = (packages: readonly string[], result: string) => ({
      slug: "a",
      name: "a",
      model: { dynamic: true as const },
      instructions: { text: "a", parts: [] },
      ...Object.fromEntries(
        ["tools", "skills", "subagents", "hooks", "mcpConnections", "hostConnections"].map((list) => [list, []]),
      ),
      ...Object.fromEntries(["channels", "schedules", "reminders", "seeds"].map((list) => [list, []])),
      extensions: packages.map((from) => ({
        ...{ id: "m", source: "m", layer: "extension", package: from, namespace: "m", contributes: [], disabled: [] },
      })),
      result: { id: "result", source: "m", layer: "extension", package: result },
    });
    const project = (packages: readonly string[], result: string) =>
      manifest.parse({
        ...{ manifestVersion: 1, bdk: "1", externals: [], hash: "h", env: { required: [], read: [] } },
        agents: [agent(packages, result)],
      });
    for (const [before, after] of [
      [project(["x", "y"], "y"), project(["z"], "z")],
      [project(["x\ny"], "x"), project(["z"], "y\nz")],
    ] as const) {
      expect(text(diff(before, after).map(mirrored))).toEqual(text(diff(after, before).map(facts)));
    }
  });

  it("mirrors between relatives", () => {
    const relatives = fc
      .tuple(anyManifest, fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 6 }))
      .map(([before, edits]) => {
        const after = edits.reduce<Json>(
          (value, [which, seed]) => {
            const all = places(value).filter((path) => path.length > 0);
            const next = mutate(value, all[which % all.length] ?? [], seed);
            return manifest.safeParse(next).success ? next : value;
          },
          JSON.parse(JSON.stringify(before)) as Json,
        );
        return [before, after as unknown as Manifest] as const;
      });
    fc.assert(
      fc.property(relatives, ([before, after]) => {
        expect(text(diff(before, after).map(mirrored))).toEqual(text(diff(after, before).map(facts)));
      }),
      { numRuns: 100 },
    );
  });

  it("is deterministic, and its answer is plain JSON", () => {
    fc.assert(
      fc.property(anyManifest, anyManifest, (before, after) => {
        const changes = diff(before, after);
        expect(JSON.parse(JSON.stringify(changes))).toEqual(changes);
        expect(diff(structuredClone(before), structuredClone(after))).toEqual(changes);
      }),
    );
  });
});
