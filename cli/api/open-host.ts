import { createHostWith, type Host, openLog } from "../../runtime/host/index.js";
import { captureConsole } from "../../runtime/host/log.js";
import type { HostOptions } from "../../runtime/host/options.js";
import type { AgentBundle } from "../../runtime/manifest/bundle.js";
import { staticFolder } from "../build/static-files.js";
import { allSections } from "./sections.js";

export interface OpenHostOptions extends HostOptions {
  /**
   * Sends `console.*` to the server's log, from before project code loads and for the rest of this process's life, so that it is seen
   * in `/v1/logs` and never mixes with stdout. The CLI does; default false.
   */
  readonly captureConsole?: boolean;
}

/** Loads project code and serves it from this process. */
export async function openHost(load: () => Promise<AgentBundle>, options: OpenHostOptions): Promise<Host> {
  const { captureConsole: captures, ...hostOptions } = options;
  const log = openLog(hostOptions);
  if (captures === true) captureConsole(log);
  return createHostWith(log, await load(), { assets: staticFolder(), ...hostOptions }, allSections);
}
