/** Entry of `server.mjs`: flags and variables in, a serving process out. Source: `wire.md` (CLI and process). */

import { RuntimeError } from "../errors.js";
import type { AgentBundle } from "../manifest/bundle.js";
import type { BootInput } from "./boot-input.js";
import { checkBundle } from "./check.js";
import { checkEnvironment, StartupError } from "./environment.js";
import { type BootFlags, bootHelp, readBootFlags, UsageError } from "./flags.js";
import { createHostWith, type Host, openLog } from "./index.js";
import { loadOrRefuse } from "./load-failure.js";
import { captureConsole, type HostLog } from "./log.js";
import type { HostOptions } from "./options.js";
import { renderStack } from "./stack.js";
import { StandbyStopped } from "./standby.js";
import { surviveProjectCode } from "./survive.js";

export type { BootInput } from "./boot-input.js";

const exitCodes = { failure: 1, usage: 2, bug: 70 } as const;

/**
 * Runs a bundle as a process: serves until SIGINT or SIGTERM, then closes gracefully. Reads nothing of the project and
 * lists no folder; the state root is all it touches.
 */
export async function boot(input: BootInput): Promise<void> {
  const flags = readFlags();
  if (flags === undefined) return;
  if (flags.help) return print(bootHelp);
  if (flags.version) return print(`${input.manifest.bdk}\n`);

  const options = { assets: input.folder, ...flags.options };
  const log = openLog(options);
  captureConsole(log);
  // Before the project's code: what it starts while it loads may fail at any time after.
  surviveProjectCode(log);
  try {
    checkEnvironment(input.manifest, process.env);
    const bundle: AgentBundle = {
      manifest: input.manifest,
      definitions: await loadOrRefuse(input.load, input.manifest),
      files: input.files,
    };
    if (flags.check) {
      checkBundle(bundle, options);
      return print(flags.json ? `${JSON.stringify({ event: "checked", ok: true })}\n` : describe(bundle));
    }
    const start = (more: HostOptions) => createHostWith(log, bundle, { ...options, ...more }, input.sections);
    const host = await (options.standby === true ? standingBy(start, flags.json) : start({}));
    input.code?.keepIn(host.stateRoot);
    closeOnSignals(host, log, () => input.code?.flush());
    print(flags.json ? `${JSON.stringify({ event: "listening", url: host.url })}\n` : announce(host));
  } catch (error) {
    fail(error);
  }
}

function readFlags(): BootFlags | undefined {
  try {
    return readBootFlags(process.argv.slice(2), process.env);
  } catch (error) {
    fail(error);
    return undefined;
  }
}

/** While it waits for another server's end, a signal gives the waiting up. */
async function standingBy(start: (more: HostOptions) => Promise<Host>, isJson: boolean): Promise<Host> {
  const waiting = new AbortController();
  const giveUp = () => waiting.abort();
  const onStandby: HostOptions["onStandby"] = (standing) =>
    print(
      isJson
        ? `${JSON.stringify({ event: "standby", ...standing })}\n`
        : `Standing by for process ${standing.pid}${standing.url === undefined ? "" : ` at ${standing.url}`}\n`,
    );
  process.on("SIGINT", giveUp);
  process.on("SIGTERM", giveUp);
  try {
    const host = await start({ onStandby, signal: waiting.signal });
    if (!waiting.signal.aborted) return host;
    await host.close();
    throw new StandbyStopped("the waiting was given up");
  } finally {
    process.off("SIGINT", giveUp);
    process.off("SIGTERM", giveUp);
  }
}

/** The first signal closes gracefully; the second one ends the process at once. */
function closeOnSignals(host: Host, log: HostLog, beforeExit: () => void): void {
  let isClosing = false;
  const close = (signal: NodeJS.Signals): void => {
    if (isClosing) process.exit(exitCodes.failure);
    isClosing = true;
    log.info(`${signal}: closing; turns in flight may finish`);
    beforeExit();
    host.close().then(
      () => process.exit(0),
      (error) => {
        log.error("closing failed", error);
        process.exit(exitCodes.failure);
      },
    );
  };
  process.on("SIGINT", close);
  process.on("SIGTERM", close);
}

function fail(error: unknown): void {
  if (error instanceof StandbyStopped) process.exit(0);
  // A `RuntimeError` here is a state root that can't be used: in use by another server, read-only, of a newer version.
  if (error instanceof UsageError || error instanceof StartupError || error instanceof RuntimeError) {
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = error instanceof UsageError ? exitCodes.usage : exitCodes.failure;
    return;
  }
  process.stderr.write(
    `error: the server could not start, and that is a bug of ours. Please report it with the lines below.\n${renderStack(error)}\n`,
  );
  process.exitCode = exitCodes.bug;
}

function announce(host: Host): string {
  const lines = host.agents.map(
    ({ name, url, playgroundUrl }) =>
      `  ${name}  ${url}${playgroundUrl === undefined ? "" : `\n  playground  ${playgroundUrl}`}`,
  );
  return `Listening on ${host.url}\n${lines.join("\n")}\n`;
}

function describe({ manifest }: AgentBundle): string {
  const lines = manifest.agents.map(
    ({ slug, tools }) => `  ${slug}: ${tools.length} ${tools.length === 1 ? "tool" : "tools"}`,
  );
  return `ok\n${lines.join("\n")}\n`;
}

function print(text: string): void {
  process.stdout.write(text);
}
