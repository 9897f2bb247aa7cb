import { verify } from "@octokit/webhooks-methods";
import { isDirectLoopback } from "../../auth/loopback.js";
import { prefixed } from "../../manifest/packs.js";
import type { ChannelRequest } from "../contract.js";
import type { PackHost } from "../packs.js";
import { headerOf } from "../sender.js";

/** The text of a request that GitHub sent; `undefined` for one that anybody may have sent. */
export type Door = (request: ChannelRequest) => Promise<string | undefined>;

/**
 * Lets in whoever signed the very bytes with the webhook's secret. Without a secret, this machine only. Decision 39.
 */
export function createDoor({ id, environment, log }: PackHost, prefix: string | undefined): Door {
  const name = prefixed(prefix, "GITHUB_WEBHOOK_SECRET");
  const secret = environment[name];
  if (secret === undefined || secret === "") {
    log("warn", `channel "${id}": ${name} is not set, so only direct calls from this machine are taken as GitHub's`);
    return async (request) => (isDirectLoopback(request) ? exactText(await request.body()) : undefined);
  }
  return async (request) => {
    const signature = headerOf(request, "x-hub-signature-256");
    if (signature === undefined || signature === "") return undefined;
    const text = exactText(await request.body());
    if (text === undefined || text === "") return undefined;
    return (await verify(secret, text, signature)) ? text : undefined;
  };
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Text that stands for these bytes and no others; `undefined` where there is none, and then no signature fits. */
function exactText(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined; // not UTF-8, so not what GitHub sends
  }
}
