/** What stands between the network and the routes: TLS, a proxy, other sites' pages, limits. */
import type { HostOptions } from "./options.js";

/** The options of this page, as `serve`, `dev` and `server.mjs` take them. */
export type FrontOptions = Pick<
  HostOptions,
  "trustProxy" | "corsOrigins" | "tlsCert" | "tlsKey" | "rateLimit" | "shutdownTimeoutMs"
>;

/**
 * What is wrong with these options, in words for the operator; `undefined` when nothing is.
 *
 * @example problemOfFront({ corsOrigins: ["https://app.example/"] }) // '--cors-origin "https://app.example/": …'
 */
export function problemOfFront(options: FrontOptions): string | undefined {
  const { corsOrigins = [], tlsCert, tlsKey, rateLimit, shutdownTimeoutMs } = options;
  for (const origin of corsOrigins) {
    const problem = problemOfOrigin(origin);
    if (problem !== undefined) return `--cors-origin ${JSON.stringify(origin)}: ${problem}`;
  }
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    return "--tls-cert and --tls-key go together: give both files";
  if (rateLimit !== undefined && !(Number.isSafeInteger(rateLimit) && rateLimit > 0)) {
    return "--rate-limit is a number of requests a minute, at least 1";
  }
  if (shutdownTimeoutMs !== undefined && !(shutdownTimeoutMs >= 0 && shutdownTimeoutMs < 2 ** 31)) {
    return "--shutdown-timeout is a number of seconds";
  }
  return undefined;
}

function problemOfOrigin(origin: string): string | undefined {
  if (origin === "*") return "name the origins; with * every page on the web could use this server";
  if (!/^https?:\/\//i.test(origin) || !URL.canParse(origin)) return "not an origin, such as https://app.example.com";
  const { origin: plain } = new URL(origin);
  return plain === origin ? undefined : `write it as browsers send it: ${plain}`;
}
