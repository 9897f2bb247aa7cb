// What mounting costs: a project of many extensions against one that has as many tools of its own.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateProject, writeTo, writeTool } from "../generate.mjs";
import { median } from "../measure.mjs";
import { build, row, work } from "../workbench.mjs";

const [packages, toolsEach] = [20, 10];

/** A project that mounts `packages` packages of `toolsEach` tools, each with settings of its own. */
function generateMounts(dir) {
  generateProject(dir, { tools: 0 });
  for (let i = 1; i <= packages; i += 1) {
    const name = `pack${i}`;
    const home = `node_modules/@bench/${name}`;
    const manifest = { name: `@bench/${name}`, version: "1.0.0", type: "module", exports: "./extension.ts" };
    writeTo(dir, `${home}/package.json`, JSON.stringify(manifest));
    writeTo(dir, `${home}/extension.ts`, definition(i));
    writeTo(dir, `${home}/instructions.md`, `Pack number ${i}.\n`);
    writeTo(dir, `${home}/lib/echo.ts`, echo);
    for (let j = 1; j <= toolsEach; j += 1) writeTool(dir, `${home}/tools`, (i - 1) * toolsEach + j);
    writeTo(
      dir,
      `bot/extensions/p${i}.ts`,
      `import pack from "@bench/${name}";\n\nexport default pack({ count: ${i} });\n`,
    );
  }
}

const definition = (number) => `import { defineExtension } from "@cursor/bdk/extensions";
import { z } from "zod";

export default defineExtension({
  root: import.meta.dirname,
  description: "Pack number ${number}.",
  config: z.object({ count: z.number(), mark: z.string().default("none") }),
});
`;

const echo = `import extension from "../extension.js";

export const echo = (text: string, count: number): string => text.repeat(count * extension.config.count);
`;

/** CPU seconds of a cold build of either, measured in turns since machines are noisy. */
export async function extensions() {
  const [own, mounted] = [join(work, "own-tools"), join(work, "mounted-tools")];
  generateProject(own, { tools: packages * toolsEach });
  // Both keep their cache in node_modules then, from where it is taken away before each build.
  writeTo(own, "node_modules/.keep", "");
  generateMounts(mounted);
  const cold = async (dir) => {
    rmSync(join(dir, "node_modules/.cache"), { recursive: true, force: true });
    return (await build(dir, `${dir}-out`)).cpu;
  };
  const [plain, mounts] = [[], []];
  for (let i = 0; i < 5; i += 1) {
    plain.push(await cold(own));
    mounts.push(await cold(mounted));
  }
  const ratio = median(mounts) / median(plain);
  row(
    `build of ${packages} extensions × ${toolsEach} tools against ${packages * toolsEach} own`,
    ratio,
    "×",
    "≤ 1.3",
    ratio <= 1.3,
  );
  writeFileSync(join(mounted, "bot/instructions.md"), "Edited.\n");
  const warm = (await build(mounted, `${mounted}-out`)).cpu / median(mounts);
  row("the same, warm, one text edited, against cold", warm, "×", "≤ 1", warm <= 1);
}
