import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * The folder of an agent's project: that which is served, or the one below it that is named by the agent's slug when a
 * folder of several projects is served.
 *
 * @param base Absolute folder that is served.
 * @example projectFolder("/srv/bots", "desk") // "/srv/bots/desk", when its files are in /srv/bots/desk/bot/
 */
export function projectFolder(base: string, slug: string): string {
  const own = join(base, slug);
  return !isProject(base) && isProject(own) ? own : base;
}

function isProject(folder: string): boolean {
  return ["bot", "agent"].some((name) => existsSync(join(folder, name)));
}
