import { statSync } from "node:fs";
import { resolve } from "node:path";
import { usageFailure } from "./exit.js";

/**
 * The absolute path of `--dir`.
 *
 * @throws CommandFailure BDK8006 when it is not a folder.
 */
export function projectFolder(dir: string): string {
  const folder = resolve(dir);
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return folder;
  throw usageFailure("noProjectFolder", {
    message: stats === undefined ? `there is no folder ${folder}` : `${folder} is not a folder`,
    help: "pass the folder that holds bot/ with --dir, or start a project with bdk init",
  });
}
