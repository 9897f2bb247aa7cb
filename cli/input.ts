import { readFile } from "node:fs/promises";
import { usageFailure } from "./exit.js";

/** All of stdin as text. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * The JSON that `--input` means: the text itself, `-` for stdin, `@path` for a file.
 *
 * @throws CommandFailure BDK8012 when it cannot be read or is not JSON.
 */
export async function readJsonInput(given: string): Promise<unknown> {
  const text = await readInputText(given);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageFailure("badInput", {
      message: `--input is not JSON: ${error instanceof Error ? error.message : String(error)}`,
      help: `quote it for the shell, as in --input '{"name":"value"}'`,
    });
  }
}

async function readInputText(given: string): Promise<string> {
  if (given === "-") return readStdin();
  if (!given.startsWith("@")) return given;
  try {
    return await readFile(given.slice(1), "utf8");
  } catch (error) {
    throw usageFailure("badInput", {
      message: `cannot read ${given.slice(1)}: ${error instanceof Error ? error.message : String(error)}`,
      help: "--input @path reads a file, --input - reads stdin",
    });
  }
}
