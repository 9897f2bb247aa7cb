import { diagnostic } from "../compiler/diagnostics/diagnostic.js";
import { toJson } from "../compiler/diagnostics/render.js";
import type { CommandFailure } from "./exit.js";
import { ownPackage } from "./package-root.js";
import { renderDiagnostics, summarize } from "./ui/diagnostics.js";
import type { Terminal } from "./ui/terminal.js";

/** Tells why a command failed: on stderr for people, as one line of JSON on stdout with `--json`: some commands print lines. */
export async function reportFailure(failure: CommandFailure, terminal: Terminal, json: boolean): Promise<void> {
  if (json) {
    await terminal.out.line(JSON.stringify({ ok: false, diagnostics: failure.diagnostics.map(toJson) }));
    return;
  }
  await terminal.err.write(renderDiagnostics(failure.diagnostics, failure.root, "pretty", terminal.err));
  if (failure.diagnostics.length > 1) await terminal.err.line(summarize(failure.diagnostics));
}

/** Tells of a bug of ours, with all that a report needs and no secret of the command line. */
export async function reportBug(
  error: unknown,
  argv: readonly string[],
  terminal: Terminal,
  json: boolean,
): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error && error.stack !== undefined ? error.stack : message;
  const { version } = ownPackage();
  const about = `bdk ${version}, node ${process.versions.node}, ${process.platform}-${process.arch}: bdk ${withoutSecrets(argv).join(" ")}`;
  const found = diagnostic("internalError", {
    message: `bdk hit a bug: ${message}`,
    help: "please report it with this text; bdk explain BDK9001 tells how",
    notes: [stack, about],
  });
  if (json) await terminal.out.line(JSON.stringify({ ok: false, diagnostics: [toJson(found)] }));
  else await terminal.err.write(renderDiagnostics([found], undefined, "pretty", terminal.err));
}

function withoutSecrets(argv: readonly string[]): readonly string[] {
  const secret = /^--(bearer|operator)-token/;
  return argv.map((token, position) => {
    if (secret.test(token) && token.includes("=")) return `${token.split("=", 1)[0]}=***`;
    return secret.test(argv[position - 1] ?? "") && !(argv[position - 1] ?? "").includes("=") ? "***" : token;
  });
}
