/** The package that `bdk init --extension` writes: one of each of the usual contributions, and everything in it works. */
import { slots } from "../../compiler/slots.js";
import { engines, packageText, tsconfigText, typeDependencies, zodRange } from "./package-files.js";

export interface ExtensionValues {
  /** npm package name, with its scope. */
  readonly name: string;
  /** `^0.2.1`, or `file:…` when bdk runs from a source checkout. */
  readonly dependency: string;
  /** Version of bdk that it is made with. */
  readonly version: string;
}

/** Path → contents, in the order that they are listed. */
export function extensionFiles(values: ExtensionValues): ReadonlyMap<string, string> {
  return new Map([
    ["package.json", packageJson(values)],
    ["tsconfig.json", tsconfigText(["**/*.ts"])],
    [".gitignore", "node_modules/\n*.tgz\n"],
    ["README.md", readme(values)],
    ["extension.ts", extension],
    ["instructions.md", instructions],
    ["tools/greet.ts", tool],
    ["skills/welcome.md", skill],
    ["lib/greeting.ts", library],
  ]);
}

const contributions = slots
  .filter(({ contributors }) => contributors.includes("extension"))
  .flatMap(({ shape, path, endings }) => {
    const file = `${path}${endings[0]}`;
    return shape === "file" ? [file] : shape === "prose" ? [file, path] : [path.split("/")[0] ?? path];
  });

function packageJson({ name, dependency, version }: ExtensionValues): string {
  const value = {
    name,
    description: "An extension for agents built with bdk.",
    version: "0.1.0",
    type: "module",
    // TypeScript as it is: whoever mounts it links it, so there is nothing to build.
    exports: { ".": "./extension.ts" },
    // Whatever it may bring later on, so that nothing is left out of the archive; npm passes over what is missing.
    files: ["extension.ts", ...contributions],
    // The contract between extensions and bdk that it is written for.
    bdk: { extension: 1 },
    scripts: { validate: "bdk validate --types", check: "tsc --noEmit", prepack: "bdk validate" },
    peerDependencies: { "@cursor/bdk": `>=${version}`, zod: zodRange },
    devDependencies: {
      "@cursor/bdk": dependency,
      ...typeDependencies,
      zod: zodRange,
    },
    engines,
  };
  return packageText(value);
}

function readme({ name }: ExtensionValues): string {
  return `# ${name}

An extension for agents: install it in a project and mount it under a name of your choice.

\`\`\`ts
// bot/extensions/hello.ts
import hello from "${name}";

export default hello({ greeting: "Good morning" });
\`\`\`

The project then has the tool \`hello__greet\` and the skill \`hello__welcome\`.

| File | |
| --- | --- |
| \`extension.ts\` | what it is called for, and the settings that a mount gives |
| \`instructions.md\` | added to the agent's instructions |
| \`tools/greet.ts\` | one tool a file; the short name, without a namespace |
| \`skills/welcome.md\` | a procedure that is loaded when it is needed |
| \`lib/\` | code that the others share |

\`npx bdk validate --types\` checks it, \`npm pack\` makes what others install.
`;
}

const extension = `import { defineExtension } from "@cursor/bdk/extensions";
import { z } from "zod";

export default defineExtension({
  root: import.meta.dirname,
  description: "Greets people.",
  config: z.object({
    greeting: z.string().default("Hello"),
    excited: z.boolean().default(false),
  }),
});
`;

const instructions = `Greet people by their name when they say who they are.
`;

const tool = `import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";
import { greet } from "../lib/greeting.js";

export default defineTool({
  description: "Writes a greeting for someone. Use it instead of making one up.",
  inputSchema: z.object({ name: z.string().min(1).describe("Whom to greet") }),
  outputSchema: z.object({ text: z.string() }),
  effect: "read",
  execute: ({ name }) => ({ text: greet(name) }),
});
`;

const skill = `---
description: How to welcome someone who is new.
---

# Welcome

1. Ask for the name when you don't know it.
2. Greet them, and say in one sentence what you can do.
`;

const library = `import extension from "../extension.js";

/** Settings of the mount, validated, with defaults: they can be read anywhere in the package. */
export function greet(name: string): string {
  const { greeting, excited } = extension.config;
  return \`\${greeting}, \${name}\${excited ? "!" : "."}\`;
}
`;
