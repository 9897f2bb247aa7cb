import type { AgentManifest } from "../../runtime/manifest/schema.js";
import type { Tolerance } from "./json.js";
import { pairByKey } from "./rule.js";

/** `@acme/ci` of `@acme/ci@2.0.0`. */
export function packageName(nameAtVersion: string): string {
  const at = nameAtVersion.indexOf("@", 1);
  return at === -1 ? nameAtVersion : nameAtVersion.slice(0, at);
}

/** `2.0.0` of `@acme/ci@2.0.0`; empty when there is none. */
export function packageVersionOf(nameAtVersion: string): string {
  return nameAtVersion.slice(packageName(nameAtVersion).length + 1);
}

/**
 * The upgrades that mounts report themselves. Their entries carry the new version too, and saying so for each would
 * bury what changed.
 */
export function mountUpgrades(before: AgentManifest, after: AgentManifest): Tolerance {
  const upgrades = new Set<string>();
  for (const { before: old, after: now } of pairByKey(before.extensions, after.extensions, (mount) => mount.id)) {
    if (old?.package !== undefined && now?.package !== undefined) upgrades.add(step(old.package, now.package));
  }
  return (key, left, right) => key === "package" && upgrades.has(step(left, right));
}

function step(from: unknown, to: unknown): string {
  return JSON.stringify([from, to]);
}
