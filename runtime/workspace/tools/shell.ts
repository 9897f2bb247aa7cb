import { explainSandbox, runProcess } from "../processes.js";
import { integer, optional, text } from "./fields.js";
import { ToolFailure, workspaceTool } from "./tool.js";

const defaultSeconds = 120;
const maxSeconds = 600;
/** Longest command line that the system takes, in bytes. */
const maxCommandBytes = 128 * 1024 - 1;
/** Most bytes kept of each stream. */
const maxBytes = 30_000;

export const shell = workspaceTool({
  name: "shell",
  description:
    "Runs a command with sh in the working directory and gives its exit code and output. It gets no input, and what it " +
    "leaves running in the background is ended.",
  effect: "write",
  input: {
    command: text("The command line."),
    timeoutSeconds: optional(integer(`When to give up. Default ${defaultSeconds}.`, 1, maxSeconds)),
  },
  async run({ command, timeoutSeconds = defaultSeconds }, { root, signal, sandbox, session }) {
    if (command.includes("\0")) throw new ToolFailure("A command can't hold a NUL character.");
    if (Buffer.byteLength(command) > maxCommandBytes) {
      throw new ToolFailure(`The command is longer than ${maxCommandBytes} bytes: write a script file and run that.`);
    }
    const { exitCode, ended, stdout, stderr } = await runProcess({
      command: ["/bin/sh", "-c", command],
      root,
      sandbox,
      variables: { BDK_SESSION: session },
      timeoutMs: timeoutSeconds * 1_000,
      maxBytes,
      signal,
    }).catch(explainSandbox);
    const output = { stdout: stdout.text, stderr: stderr.text };
    if (ended === "timeout") {
      throw new ToolFailure(`The command did not end within ${timeoutSeconds} s and was stopped. ${told(output)}`);
    }
    if (ended === "cancelled") throw new ToolFailure(`The command was stopped with the turn. ${told(output)}`);
    return { exitCode: exitCode ?? null, ...output };
  },
});

function told({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string {
  const said = [stdout, stderr].filter((each) => each !== "").join("\n");
  return said === "" ? "It had said nothing." : `It had said: ${said}`;
}
