import { type Diagnostic, diagnostic } from "../../diagnostics/diagnostic.js";
import type { Rule } from "../rule.js";

/** What needs Cursor's own services, which a server of one's own has no access to. Source: decision 6. */
export const privateServices: Rule = ({ config, at }) => {
  if (config === undefined) return [];
  const diagnostics: Diagnostic[] = [];
  const runtime = config.get("runtime");
  if (runtime?.literal === "grokbot" || runtime?.literal === "cloud") {
    diagnostics.push(
      diagnostic("privateService", {
        message: `runtime: "${runtime.literal}" runs on a private service of Cursor's`,
        at: at(runtime.value),
        help: "delete `runtime`: the agent then runs in this server, with the model that `model` names",
      }),
    );
  }
  const account = config.get("cursorAccount");
  if (account !== undefined && account.literal !== false) {
    diagnostics.push(
      diagnostic("privateService", {
        message: "cursorAccount takes credentials from a private service of Cursor's",
        at: at(account.key),
        help: "connect to the server itself: `url` with `oauth: true`, or `headers` with a token from the environment",
      }),
    );
  }
  return diagnostics;
};
