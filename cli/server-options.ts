import { join, resolve } from "node:path";
import { type FrontOptions, problemOfFront } from "../runtime/host/front.js";
import type { HostOptions } from "../runtime/host/options.js";
import type { Values } from "./command.js";
import type { CommandTable } from "./command-table.js";
import { usageFailure } from "./exit.js";

type ServerFlags = Values<CommandTable["dev"]["options"]>;

/**
 * The host's options of `bdk serve` and `bdk dev`: flags first, then the variables that `server.mjs` reads too
 * (`PORT HOST BDK_BEARER_TOKEN BDK_OPERATOR_TOKEN BDK_STATE_ROOT BDK_MODEL`).
 */
export function serverOptions(
  root: string,
  flags: ServerFlags,
  env: NodeJS.ProcessEnv = process.env,
): Omit<HostOptions, "log"> & { readonly stateRoot: string } {
  const authToken = flags["bearer-token"] ?? env.BDK_BEARER_TOKEN;
  if (authToken !== undefined && flags["allow-anonymous"]) {
    throw usageFailure("optionsExclude", {
      message: "a bearer token and --allow-anonymous exclude each other",
      help: "leave one out (BDK_BEARER_TOKEN counts as a bearer token)",
    });
  }
  if (authToken === "") {
    throw usageFailure("badOptionValue", {
      message: "the bearer token is empty",
      help: "pass a secret, or leave --bearer-token out",
    });
  }
  const front = frontOptions(flags);
  const operatorToken = flags["operator-token"] ?? env.BDK_OPERATOR_TOKEN;
  const stateRoot = flags["state-root"] ?? env.BDK_STATE_ROOT;
  const model = flags.model ?? env.BDK_MODEL;
  const port = flags.port ?? envPort(env.PORT);
  const host = flags.host ?? env.HOST;
  return {
    stateRoot: stateRoot === undefined ? join(root, ".bdk") : resolve(stateRoot),
    allowAnonymous: flags["allow-anonymous"],
    playground: flags.playground,
    docs: flags.docs,
    schedules: flags.schedules,
    ...(flags["hosted-channels"] && { hosted: true }),
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
    ...(flags.mode === undefined ? {} : { mode: flags.mode }),
    ...(authToken === undefined ? {} : { authToken }),
    ...(operatorToken === undefined ? {} : { operatorToken }),
    ...(model === undefined ? {} : { model }),
    ...(flags["public-url"] === undefined ? {} : { publicUrl: flags["public-url"] }),
    ...front,
  };
}

/** What stands between the network and the routes. */
function frontOptions(flags: ServerFlags): FrontOptions {
  const { "tls-cert": tlsCert, "tls-key": tlsKey, "rate-limit": rateLimit, "cors-origin": corsOrigins } = flags;
  const front: FrontOptions = {
    ...(flags["trust-proxy"] && { trustProxy: true }),
    ...(corsOrigins.length === 0 ? {} : { corsOrigins }),
    ...(tlsCert === undefined ? {} : { tlsCert: resolve(tlsCert) }),
    ...(tlsKey === undefined ? {} : { tlsKey: resolve(tlsKey) }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
  };
  const problem = problemOfFront(front);
  if (problem !== undefined) throw usageFailure("badOptionValue", { message: problem });
  return front;
}

function envPort(value: string | undefined): number | undefined {
  if (value === undefined || value === "") return undefined;
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (port <= 65_535) return port;
  throw usageFailure("badOptionValue", { message: `PORT cannot be "${value}"`, help: "an integer from 0 to 65535" });
}
