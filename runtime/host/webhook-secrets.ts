import { isLoopbackHost } from "../auth/loopback.js";
import type { WebhookVerify } from "../authoring/channels/webhook.js";
import { packFacts, prefixed } from "../manifest/packs.js";
import type { AgentManifest } from "../manifest/schema.js";
import { StartupError } from "./environment.js";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A pack whose senders sign with a secret that is not there admits this machine only; a server that others reach refuses
 * to start. Decision 39. Also what a pack can't do without a private service, decision 6.
 *
 * @throws StartupError
 */
export function checkWebhooks(
  { slug, channels }: AgentManifest,
  definitions: Readonly<Record<string, unknown>>,
  host: string | undefined,
  environment: Environment,
): void {
  for (const { id, name, pack, source } of channels) {
    if (pack === undefined) continue;
    const options = optionsOf(definitions[id]);
    const where = `the channel "${name}" of agent "${slug}" (${source})`;
    if (options.cursorAccount !== undefined) {
      throw new StartupError(
        `${where} has cursorAccount, which takes webhooks from a private service of Cursor's: remove it, and add a webhook to the repository that delivers to /v1/channels/${name}`,
      );
    }
    if (host === undefined || isLoopbackHost(host)) continue;
    const missing = missingSecret(pack, options, environment);
    if (missing === undefined) continue;
    throw new StartupError(
      `${where} takes webhooks from outside, and ${missing}: anybody could write them. Set it, or listen on this machine only`,
    );
  }
}

function missingSecret(pack: string, options: Options, environment: Environment): string | undefined {
  if (pack === "webhook")
    return options.verify === undefined || hasOwnSecret(options.verify) ? undefined : "its secret is empty";
  const facts = Object.hasOwn(packFacts, pack) ? packFacts[pack] : undefined;
  if (facts?.secret === undefined) return undefined;
  const has = (name: string) => (environment[prefixed(options.envPrefix, name)] ?? "") !== "";
  if (has(facts.secret) || (facts.unlessSet !== undefined && has(facts.unlessSet))) return undefined;
  return `${prefixed(options.envPrefix, facts.secret)} is not set`;
}

/** Whether some sender of a generic webhook can be known. */
function hasOwnSecret(verify: NonNullable<Options["verify"]>): boolean {
  const all = Array.isArray(verify) ? (verify as readonly WebhookVerify[]) : [verify as WebhookVerify];
  return all.some((each) => {
    const secret = each.scheme === "bearer" ? each.token : each.secret;
    return ((typeof secret === "function" ? secret() : secret) ?? "") !== "";
  });
}

interface Options {
  readonly verify?: WebhookVerify | readonly WebhookVerify[];
  readonly envPrefix?: string;
  readonly cursorAccount?: unknown;
}

function optionsOf(definition: unknown): Options {
  const { options } = (definition ?? {}) as { readonly options?: Options };
  return typeof options === "object" && options !== null ? options : {};
}
