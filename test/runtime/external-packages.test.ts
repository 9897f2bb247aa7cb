/** Packages beside the bundle are imported at every start: also when the bundle's own texts come from the code cache. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { emitProject } from "./support/emitted.js";
import { call } from "./support/host.js";

test("a package that stays external is there at the first start and at later ones", async () => {
  const project = await emitProject({
    "package.json": '{"name":"emitted","private":true,"type":"module","dependencies":{"beside":"1.0.0"}}\n',
    "node_modules/beside/package.json": '{"name":"beside","version":"1.0.0","type":"module","exports":"./index.js"}\n',
    "node_modules/beside/index.js":
      'import { readFileSync } from "node:fs";\nexport const read = () => readFileSync(new URL("./data.txt", import.meta.url), "utf8");\n',
    "node_modules/beside/data.txt": "hello from beside",
    "bot/tools/look.ts": `import { defineTool } from "@cursor/bdk/tools";
import { read } from "beside";

export default defineTool({ description: "Looks.", effect: "read", execute: () => read() });
`,
  });
  for (let start = 0; start < 3; start += 1) {
    const url = await project.start();
    const { body } = await call(`${url}/v1/tools/look`, { body: {} });
    expect(body).toMatchObject({ isError: false, result: "hello from beside" });
    // Written behind the first start; the later ones run with it.
    await expect.poll(() => existsSync(join(project.stateRoot, "code-cache/core.bin"))).toBe(true);
    await project.kill();
  }
});
