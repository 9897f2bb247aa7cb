import { exit } from "../exit.js";
import type { Run } from "../index.js";
import { ownPackage } from "../package-root.js";
import { writeJson } from "../ui/terminal.js";

export const run: Run<"version"> = async ({ options }, { out }) => {
  const { version } = ownPackage();
  if (options.json) {
    await writeJson(out, {
      bdk: version,
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    });
  } else await out.line(version);
  return exit.ok;
};
