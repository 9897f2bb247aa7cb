import { parseArgs } from "node:util";
import { type FrontOptions, problemOfFront } from "./front.js";
import type { HostOptions } from "./options.js";

/** What the command line and the environment of `server.mjs` ask for. */
export interface BootFlags {
  readonly options: HostOptions;
  /** Print machine-readable lines on stdout. */
  readonly json: boolean;
  /** Load everything, check the environment, and exit. */
  readonly check: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/** A command line that says nothing sensible: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const flags = {
  port: { type: "string" },
  host: { type: "string" },
  mode: { type: "string" },
  "state-root": { type: "string" },
  "bearer-token": { type: "string" },
  "operator-token": { type: "string" },
  "allow-anonymous": { type: "boolean" },
  "no-playground": { type: "boolean" },
  "no-docs": { type: "boolean" },
  "no-schedules": { type: "boolean" },
  "hosted-channels": { type: "boolean" },
  standby: { type: "boolean" },
  dev: { type: "boolean" },
  model: { type: "string" },
  "public-url": { type: "string" },
  "trust-proxy": { type: "boolean" },
  "cors-origin": { type: "string", multiple: true },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  "rate-limit": { type: "string" },
  "shutdown-timeout": { type: "string" },
  json: { type: "boolean" },
  check: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/**
 * Reads `serve`'s flags and the variables `PORT HOST BDK_BEARER_TOKEN BDK_OPERATOR_TOKEN BDK_STATE_ROOT BDK_MODEL`;
 * a flag wins over its variable.
 *
 * @throws UsageError
 */
export function readBootFlags(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): BootFlags {
  const values = parse(args);
  const either = (flag: string | undefined, variable: string): string | undefined =>
    flag ?? (environment[variable] || undefined);
  const port = either(values.port, "PORT");
  const host = either(values.host, "HOST");
  const stateRoot = either(values["state-root"], "BDK_STATE_ROOT");
  const authToken = either(values["bearer-token"], "BDK_BEARER_TOKEN");
  const operatorToken = either(values["operator-token"], "BDK_OPERATOR_TOKEN");
  const model = either(values.model, "BDK_MODEL");
  const publicUrl = values["public-url"];
  for (const [name, value] of Object.entries(values)) if (value === "") throw new UsageError(`--${name} needs a value`);
  const front = readFront(values);
  if (publicUrl !== undefined && !/^https?:\/\//.test(publicUrl)) {
    throw new UsageError("--public-url must begin with http:// or https://");
  }
  return {
    options: {
      ...(port !== undefined && { port: readPort(port) }),
      ...(host !== undefined && { host }),
      mode: readMode(values.mode),
      ...(stateRoot !== undefined && { stateRoot }),
      ...(authToken !== undefined && { authToken }),
      ...(operatorToken !== undefined && { operatorToken }),
      ...(model !== undefined && { model }),
      ...(publicUrl !== undefined && { publicUrl }),
      allowAnonymous: values["allow-anonymous"] === true,
      playground: values["no-playground"] !== true,
      docs: values["no-docs"] !== true,
      schedules: values["no-schedules"] !== true,
      ...(values["hosted-channels"] === true && { hosted: true }),
      ...(values.standby === true && { standby: true }),
      dev: values.dev === true,
      ...front,
    },
    json: values.json === true,
    check: values.check === true,
    help: values.help === true,
    version: values.version === true,
  };
}

/** What `server.mjs --help` prints. */
export const bootHelp = `Serves the agents in this bundle.

Usage: node server.mjs [flags]

  --port N              port to listen on; 0 picks one             (PORT, default 3000)
  --host ADDRESS        address to listen on                       (HOST, default 127.0.0.1)
  --mode single         serve the one agent at / instead of /<slug>
  --state-root DIR      where sessions are kept                    (BDK_STATE_ROOT, default .bdk)
  --bearer-token TOKEN  admit callers with this token only         (BDK_BEARER_TOKEN)
  --operator-token T    a token that may settle every approval     (BDK_OPERATOR_TOKEN)
  --allow-anonymous     admit everyone; trusted networks only
  --model ID            replace the agents' model: offline, openai/<id>, …  (BDK_MODEL)
  --public-url URL      how this server is reached from outside
  --trust-proxy         believe X-Forwarded-… headers: a proxy of yours stands in front
  --cors-origin ORIGIN  let pages of this origin call the API; may be repeated
  --tls-cert FILE       speak HTTPS with this certificate (PEM, with its chain)
  --tls-key FILE        and its private key (PEM)
  --rate-limit N        most requests a minute for each principal; 429 past them
  --shutdown-timeout S  how long running turns may take to end at SIGTERM, in seconds  (default 10)
  --no-playground       leave out the web playground and the index
  --no-docs             leave out the documentation site
  --no-schedules        do not fire schedules
  --hosted-channels     channel routes answer 202 at once, with an empty body
  --standby             wait while another server has the state root; take over when it ends or dies
  --dev                 local development: list every session, nothing fires by itself
  --json                print {"event":"listening","url":…} as the first line
  --check               load everything, check the environment, and exit
  --version, --help

Examples:
  node server.mjs --model offline
  PORT=8080 HOST=0.0.0.0 BDK_BEARER_TOKEN=… XAI_API_KEY=… node server.mjs
  node server.mjs --tls-cert fullchain.pem --tls-key key.pem --rate-limit 120
  node server.mjs --check
`;

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, strict: true, allowPositionals: false }).values;
  } catch (error) {
    const message = error instanceof Error ? error.message.split(". ", 1)[0] : String(error);
    throw new UsageError(`${message}; --help lists the flags`);
  }
}

/** Flags of what stands in front of the routes. */
function readFront(values: ReturnType<typeof parse>): FrontOptions {
  const {
    "cors-origin": origins,
    "tls-cert": tlsCert,
    "tls-key": tlsKey,
    "rate-limit": limit,
    "shutdown-timeout": timeout,
  } = values;
  const front: FrontOptions = {
    ...(values["trust-proxy"] === true && { trustProxy: true }),
    ...(origins !== undefined && { corsOrigins: origins.flatMap((each) => each.split(",")) }),
    ...(tlsCert !== undefined && { tlsCert }),
    ...(tlsKey !== undefined && { tlsKey }),
    ...(limit !== undefined && { rateLimit: readNumber(limit) }),
    ...(timeout !== undefined && { shutdownTimeoutMs: readNumber(timeout) * 1000 }),
  };
  const problem = problemOfFront(front);
  if (problem !== undefined) throw new UsageError(problem);
  return front;
}

function readNumber(text: string): number {
  return /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new UsageError(`"${text}" is not a port: give a whole number from 0 to 65535`);
  return port;
}

function readMode(mode: string | undefined): "single" | "multi" {
  if (mode === undefined || mode === "multi" || mode === "single") return mode ?? "multi";
  throw new UsageError(`"${mode}" is not a mode: give single or multi`);
}
