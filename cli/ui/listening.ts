import type { HostHandle } from "../../runtime/host/options.js";
import { columns } from "./columns.js";
import type { Sink } from "./sink.js";

type Running = Pick<HostHandle, "url" | "port" | "agents">;

/** The first line that `--json` prints, of `bdk serve`, `bdk dev` and `server.mjs` alike. */
export function listeningEvent({ url, port, agents }: Running) {
  return { event: "listening" as const, url, port, agents };
}

/** The URLs of a server that has started. */
export async function writeListening(sink: Sink, server: Running): Promise<void> {
  const { bold, cyan, dim, green } = sink.colors;
  await sink.line(`${green("listening")} on ${cyan(server.url)}`);
  const rows = server.agents.map((agent) => [
    bold(agent.name),
    cyan(agent.url),
    agent.playgroundUrl === undefined ? "" : dim(agent.playgroundUrl),
  ]);
  for (const line of columns(rows, { indent: "  " })) await sink.line(line);
}

/** That a server waits for another one's end; without `url` nothing is answered meanwhile. */
export async function writeStandby(
  sink: Sink,
  { pid, url }: { readonly pid: number; readonly url?: string },
  isJson: boolean,
): Promise<void> {
  if (isJson) return sink.line(JSON.stringify({ event: "standby", pid, ...(url !== undefined && { url }) }));
  const { cyan, yellow } = sink.colors;
  await sink.line(
    `${yellow("standing by")} for process ${pid}${url === undefined ? "; its port is ours too" : ` at ${cyan(url)}`}`,
  );
}
