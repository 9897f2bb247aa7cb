// Projects of any size for the bench: tools with zod input, a skill, a hook, instructions, shared code in lib/.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Writes a project with `tools` tools (`tool_0001` …) into `dir`, replacing what is there.
 * Each answers `{ echo, mark: "GENERATED" }`, so an edit of the mark can be seen in the answer.
 */
export function generateProject(dir, { tools, model = "offline" }) {
  rmSync(dir, { recursive: true, force: true });
  const write = (path, text) => writeTo(dir, path, text);
  write("package.json", `${JSON.stringify({ name: "generated", private: true, type: "module" }, null, 2)}\n`);
  write(
    "bot/agent.ts",
    `import { defineAgent } from "@cursor/bdk";\n\nexport default defineAgent({ model: "${model}" });\n`,
  );
  write("bot/instructions.md", "You test the build. Answer briefly and call a tool when one fits.\n");
  write("bot/lib/echo.ts", "export const echo = (text: string, count: number): string => text.repeat(count);\n");
  write("bot/skills/echoing.md", "---\ndescription: How to echo.\n---\n\nCall a tool with the text.\n");
  write(
    "bot/hooks/usage.ts",
    'import { defineHook } from "@cursor/bdk/hooks";\n\nexport default defineHook({\n  events: {\n    "turn.completed"(event, ctx) {\n      ctx.host.otel.increment("bench.turns", 1);\n    },\n  },\n});\n',
  );
  for (let i = 1; i <= tools; i += 1) writeTool(dir, "bot/tools", i);
}

/** Writes one file, and the folders above it. */
export function writeTo(dir, path, text) {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Writes tool number `number` into a folder that has `lib/echo.ts` beside it. */
export function writeTool(dir, folder, number) {
  writeTo(dir, `${folder}/tool_${String(number).padStart(4, "0")}.ts`, tool(number));
}

function tool(number) {
  return `import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";
import { echo } from "../lib/echo.js";

const options = z.object({
  upper: z.boolean().default(false).describe("Answer in capitals."),
  tags: z.array(z.enum(["red", "green", "blue"])).max(5).optional(),
});

export default defineTool({
  description: "Tool number ${number} of the generated project: repeats a text.",
  effect: "read",
  inputSchema: z.object({
    text: z.string().min(1).describe("What to repeat."),
    count: z.number().int().min(1).max(100).default(1),
    options: options.optional(),
  }),
  execute({ text, count, options }) {
    const repeated = echo(text, count);
    return { echo: options?.upper ? repeated.toUpperCase() : repeated, mark: "GENERATED" };
  },
});
`;
}
