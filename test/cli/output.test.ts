import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { linkModules, packageRoot, temporaryFolder } from "./bdk.js";

const bin = join(packageRoot, "dist/cli/bdk.js");

/** A project whose info is well over a megabyte. */
async function largeProject(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "bot/tools"), { recursive: true });
  await writeFile(join(folder, "package.json"), '{"name":"large","type":"module"}');
  await writeFile(join(folder, "bot/instructions.md"), "You are large.\n");
  const words = "a description that goes on and on ".repeat(900);
  for (let i = 0; i < 50; i++) {
    await writeFile(
      join(folder, `bot/tools/tool_${i}.ts`),
      `import { defineTool } from "@cursor/bdk/tools";\nexport default defineTool({ description: "${words}", execute: () => ${i} });\n`,
    );
  }
  await linkModules(folder);
  return folder;
}

function shell(
  script: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  // Where both are set, Node says so on stderr.
  const { NO_COLOR: _none, FORCE_COLOR: _forced, ...inherited } = process.env;
  const child = spawn("bash", ["-o", "pipefail", "-c", script], {
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

describe("output through a pipe", () => {
  test("arrives whole when the reader is slow, and ends quietly when the reader leaves", async () => {
    const folder = await largeProject();
    const slowReader = `let n = 0; let text = ""; process.stdin.on("data", (chunk) => { text += chunk; n += chunk.length; process.stdin.pause(); setTimeout(() => process.stdin.resume(), 2); }); process.stdin.on("end", () => console.log(JSON.stringify({ n, tools: JSON.parse(text).agents[0].tools.length })));`;
    const whole = await shell(`"$NODE" "$BIN" info --json --dir "$DIR" | "$NODE" -e "$READER"`, {
      NODE: process.execPath,
      BIN: bin,
      DIR: folder,
      READER: slowReader,
    });
    expect(whole.stderr).toBe("");
    const { n, tools } = JSON.parse(whole.stdout) as { n: number; tools: number };
    expect(n).toBeGreaterThan(1024 * 1024);
    expect(tools).toBe(50);

    const cut = await shell(`{ "$NODE" "$BIN" info --json --dir "$DIR"; echo "code $?" >&2; } | head -c 10`, {
      NODE: process.execPath,
      BIN: bin,
      DIR: folder,
    });
    expect(cut.stderr).toBe("code 0\n");
  });

  test("that can't be written is told, and exits 1", async () => {
    const full = await shell(`"$NODE" "$BIN" help > /dev/full; echo "code $?"`, { NODE: process.execPath, BIN: bin });
    expect(full.stderr).toMatch(/^error\[BDK8008\]: cannot write the output: ENOSPC/);
    expect(full.stdout).toBe("code 1\n");
    const mute = await shell(`"$NODE" "$BIN" version 2> /dev/full`, { NODE: process.execPath, BIN: bin });
    expect(mute.stdout).not.toBe("");
  });
});
