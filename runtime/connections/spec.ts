/** Connections as their definitions say them, and what is filled in when one opens. */
import type { AgentGeneration } from "../manifest/bundle.js";
import type { ConnectionEntry } from "../manifest/schema.js";
import { ConnectionError } from "./error.js";

/** How a server is reached. */
export type Way =
  | {
      readonly is: "http";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Server-sent events of the protocol's first revision; only where the definition says so. */
      readonly sse: boolean;
      readonly oauth: boolean;
      /** What a plugin's `auth` says. */
      readonly settings: Readonly<Record<string, string>>;
    }
  | {
      readonly is: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | undefined;
      /** Absolute folder that a plugin's server keeps its data in; made before it starts. */
      readonly dataDir: string | undefined;
    }
  | { readonly is: "peer"; readonly slug: string }
  /** Its definition says nothing that could be opened. */
  | { readonly is: "broken"; readonly reason: string };

/** One connection of the running code. */
export interface ConnectionSpec {
  readonly name: string;
  readonly kind: "mcp-connection" | "host-connection";
  readonly description: string | undefined;
  readonly advertises: boolean;
  readonly allow: readonly string[] | undefined;
  readonly block: readonly string[];
  /** Tools that only read. Decision 34. */
  readonly reads: readonly string[];
  /** Tools that a human decides about first; `true`: all. */
  readonly asks: readonly string[] | true;
  /** Milliseconds that a call may take. */
  readonly timeoutMs: number;
  readonly way: Way;
}

/** Decision 23. */
const callTimeoutMs = 60_000;

/** A peer bounds its waits itself (`waitSeconds`). */
const peerTimeoutMs = 600_000;

/** The connections of some code; those for the host alone are among them. */
export function readSpecs({ agent, definitions }: AgentGeneration): readonly ConnectionSpec[] {
  return [
    ...agent.mcpConnections.map((entry) => readSpec(entry, "mcp-connection", definitions[entry.id])),
    ...agent.hostConnections.map((entry) => readSpec(entry, "host-connection", definitions[entry.id])),
  ];
}

function readSpec(entry: ConnectionEntry, kind: ConnectionSpec["kind"], definition: unknown): ConnectionSpec {
  const own = fieldsOf(definition);
  const { allow, block } = fieldsOf(own.tools);
  const way = wayOf(own);
  const { timeoutMs } = own;
  return {
    name: entry.name,
    kind,
    description: typeof own.description === "string" ? own.description : undefined,
    advertises: own.advertiseTools === true,
    allow: allow === undefined ? undefined : textsOf(allow),
    block: textsOf(block),
    reads: textsOf(own.readTools),
    asks: own.needsApproval === true ? true : textsOf(own.needsApproval),
    timeoutMs:
      typeof timeoutMs === "number" && timeoutMs > 0 ? timeoutMs : way.is === "peer" ? peerTimeoutMs : callTimeoutMs,
    way,
  };
}

function wayOf(own: Readonly<Record<string, unknown>>): Way {
  const { url, command, agent } = own;
  if (typeof url === "string") {
    return {
      is: "http",
      url,
      headers: recordOf(own.headers),
      sse: own.transport === "sse",
      oauth: own.oauth === true,
      settings: recordOf(own.auth),
    };
  }
  if (typeof command === "string") {
    const cwd = typeof own.cwd === "string" ? own.cwd : undefined;
    const dataDir = typeof own.dataDir === "string" ? own.dataDir : undefined;
    return { is: "stdio", command, args: textsOf(own.args), env: recordOf(own.env), cwd, dataDir };
  }
  if (typeof agent === "string") return { is: "peer", slug: agent };
  return { is: "broken", reason: "its definition has neither a url nor a command nor an agent" };
}

/** Whether a tool of the server may be used. */
export function isAllowed({ allow, block }: ConnectionSpec, tool: string): boolean {
  return (allow === undefined || allow.includes(tool)) && !block.includes(tool);
}

/** Texts with `${NAME}` filled in, and the values that must not be shown. */
export interface Filled {
  text(written: string): string;
  record(written: Readonly<Record<string, string>>): Record<string, string>;
  /** Every value that was filled in. */
  readonly secrets: readonly string[];
  /** @throws ConnectionError naming each variable that has no value */
  check(): void;
}

/** Fills in from an environment, as it is now: values that change are taken up when the connection opens again. */
export function fillFrom(environment: Readonly<Record<string, string | undefined>>): Filled {
  const secrets: string[] = [];
  const missing = new Set<string>();
  const text = (written: string): string =>
    written.replaceAll(placeholder, (whole, name: string) => {
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (value === undefined || value === "") {
        missing.add(name);
        return whole;
      }
      secrets.push(value);
      return value;
    });
  return {
    text,
    record: (written) => Object.fromEntries(Object.entries(written).map(([key, value]) => [key, text(value)])),
    secrets,
    check() {
      if (missing.size === 0) return;
      const names = [...missing].join(", ");
      throw new ConnectionError(
        "connection_unset",
        `it needs ${names}, which ${missing.size === 1 ? "is" : "are"} not set`,
      );
    },
  };
}

const placeholder = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

/** Fields without a value, such as `headers: { "x-team": undefined }`, are left out. */
function recordOf(value: unknown): Readonly<Record<string, string>> {
  const texts = Object.entries(fieldsOf(value)).filter((each): each is [string, string] => typeof each[1] === "string");
  return Object.fromEntries(texts);
}
