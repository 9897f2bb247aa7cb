import { createHostWith, type Host, openLog } from "../../runtime/host/index.js";
import { captureConsole } from "../../runtime/host/log.js";
import type { HostOptions } from "../../runtime/host/options.js";
import { surviveProjectCode } from "../../runtime/host/survive.js";
import type { AgentBundle } from "../../runtime/manifest/bundle.js";
import { staticFolder } from "../build/static-files.js";
import { allSections } from "./sections.js";

export interface OpenHostOptions extends HostOptions {
  /**
   * This process is the server's: what project code prints with `console` goes to the server's log, and a promise or a timer of its
   * that fails is logged and ends nothing. The CLI says so; default false.
   */
  readonly ownsProcess?: boolean;
}

/** Loads project code and serves it from this process. */
export async function openHost(load: () => Promise<AgentBundle>, options: OpenHostOptions): Promise<Host> {
  const { ownsProcess, ...hostOptions } = options;
  const log = openLog(hostOptions);
  if (ownsProcess === true) {
    captureConsole(log);
    surviveProjectCode(log);
  }
  return createHostWith(log, await load(), { assets: staticFolder(), ...hostOptions }, allSections);
}
