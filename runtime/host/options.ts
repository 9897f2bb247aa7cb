import type { Principal } from "../auth/principal.js";
import type { ByHand } from "./by-hand.js";

/** Options of `createHost`, `serve(dir, …)` and, as flags and variables, of `server.mjs`. */
export interface HostOptions {
  /** Default 3000; 0 lets the system pick. */
  readonly port?: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** `multi` (default) mounts each agent at `/<slug>`; `single` serves one agent at `/`. */
  readonly mode?: "single" | "multi";
  /** Default `.bdk` in the working directory (bundle) or the project (serve). */
  readonly stateRoot?: string;
  /**
   * Folder of the project, or of several: paths of `local` in agent.ts are relative to each agent's own, and programs of
   * its connections start there. Default: what is served (serve); without one, the working directory (bundle).
   */
  readonly base?: string;
  /** Replaces the loopback policy with a bearer token, compared in constant time. */
  readonly authToken?: string;
  readonly operatorToken?: string;
  /** Admits everyone; for demos on trusted networks. */
  readonly allowAnonymous?: boolean;
  readonly dev?: boolean;
  readonly playground?: boolean;
  readonly docs?: boolean;
  readonly schedules?: boolean;
  /** Channel routes answer 202 with an empty body as soon as a request is found good, as a hosted deployment does. */
  readonly hosted?: boolean;
  /** Overrides every agent's model: `offline`, `openai/gpt-5`, … */
  readonly model?: string;
  /** Tell at startup of agents whose model can't answer, or is the offline one. Default true; `bdk call` asks no model. */
  readonly modelWarnings?: boolean;
  /** Shapes `playgroundUrl` and `traceUrl`. */
  readonly publicUrl?: string;
  /** Folder of static `playground/` and `docs/`, beside the bundle. */
  readonly assets?: string;
  /** Where server log lines go besides the ring buffer behind `/v1/logs`; default stderr. */
  readonly log?: (line: LogLine) => void;
  /** A proxy of yours stands in front: believe what its `X-Forwarded-…` headers say of the caller. Default false. */
  readonly trustProxy?: boolean;
  /** Origins whose pages may call the API, such as `https://app.example.com`. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** PEM files of a certificate (with its chain) and its key: the server speaks HTTPS. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** Most requests a minute for each principal; 429 past them. Default: no limit. */
  readonly rateLimit?: number;
  /** How long turns in flight may take to settle when the server closes, in milliseconds. Default 10 s. */
  readonly shutdownTimeoutMs?: number;
  /** Waits while another server has the state root, and takes over when that one ends or dies. Default: refuses to start. */
  readonly standby?: boolean;
  /** Called when the waiting begins, with the holder's pid; without `url` while the address is taken. */
  readonly onStandby?: (standing: { readonly pid: number; readonly url?: string }) => void;
  /** Gives the waiting up: the start rejects with an error named `StandbyStopped`. */
  readonly signal?: AbortSignal;
  /** Body limit in bytes for JSON routes; default 1 MiB. */
  readonly bodyLimit?: number;
}

export interface LogLine {
  readonly seq: number;
  /** ISO-8601. */
  readonly at: string;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
}

/** A running host. */
export interface HostHandle extends ByHand {
  /** `http://127.0.0.1:3000`, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Mounted agents and the URLs to print. */
  readonly agents: readonly {
    readonly slug: string;
    readonly name: string;
    readonly url: string;
    readonly playgroundUrl?: string;
  }[];
  /** Stops accepting, lets turns settle up to a limit, flushes. */
  close(): Promise<void>;
}

export type { Principal };
