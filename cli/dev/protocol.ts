/** What the two processes of `bdk dev` say to each other. */
import type { InfoDiagnostic } from "../../runtime/host/info.js";
import type { HostHandle, HostOptions } from "../../runtime/host/options.js";
import type { LoadableBundle } from "../api/agent-bundle.js";

/** One state of the project's code. */
export interface Generation {
  /** Counts up from 1. */
  readonly id: number;
  readonly root: string;
  readonly bundle: LoadableBundle;
  /** What the compiler said about it. */
  readonly diagnostics: readonly InfoDiagnostic[];
}

/** Options that survive the way to another process. */
export type ServerOptions = Omit<HostOptions, "log">;

export type ToServer =
  | { readonly kind: "start"; readonly generation: Generation; readonly options: ServerOptions }
  | { readonly kind: "swap"; readonly generation: Generation }
  | { readonly kind: "close" };

export type FromServer =
  | { readonly kind: "ready" }
  | {
      readonly kind: "listening";
      readonly id: number;
      readonly url: string;
      readonly port: number;
      readonly agents: HostHandle["agents"];
    }
  | { readonly kind: "swapped"; readonly id: number }
  /**
   * The code could not be loaded (`code`), or the server not start with it (`startup`: the address is taken, options contradict
   * each other). After a refused `swap` the old code goes on.
   */
  | { readonly kind: "refused"; readonly id: number; readonly message: string; readonly reason: "code" | "startup" }
  | { readonly kind: "closed" };
