import { verify } from "@octokit/webhooks-methods";
import { type AuthFn, localDevStrict } from "../../authoring/channels.js";
import { prefixed } from "../../manifest/packs.js";
import type { PackHost } from "../packs.js";

/**
 * Who may deliver: whoever signed the very bytes with the webhook's secret. Without a secret, this machine only.
 * Decision 39.
 */
export function deliverers({ id, environment, log }: PackHost, prefix: string | undefined): readonly AuthFn[] {
  const name = prefixed(prefix, "GITHUB_WEBHOOK_SECRET");
  const secret = environment[name];
  if (secret === undefined || secret === "") {
    log("warn", `channel "${id}": ${name} is not set, so only direct calls from this machine are taken as GitHub's`);
    return [localDevStrict()];
  }
  return [
    async function githubSignature(request) {
      const signature = request.headers.get("x-hub-signature-256");
      const text = exactText(new Uint8Array(await request.arrayBuffer()));
      if (signature === null || signature === "" || text === undefined || text === "") return null;
      return (await verify(secret, text, signature)) ? { kind: "channel", id } : null;
    },
  ];
}

/** Text that stands for these bytes and no others; `undefined` where there is none, and then no signature fits. */
function exactText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // not UTF-8, so not what GitHub sends
  }
}
