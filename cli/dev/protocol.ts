/** What the two processes of `bdk dev` say to each other. */
import type { EntryOutcome, EvaluationEntry, ProjectCode } from "../../compiler/index.js";
import type { InfoDiagnostic } from "../../runtime/host/info.js";
import type { HostHandle, HostOptions } from "../../runtime/host/options.js";
import type { AgentBundle } from "../../runtime/manifest/bundle.js";
import type { LoadableBundle } from "../api/agent-bundle.js";

/** One state of the project's code, whole. */
export interface Generation {
  /** Counts up from 1, patches included. */
  readonly id: number;
  /** Absolute project folder. */
  readonly root: string;
  readonly bundle: LoadableBundle;
  /** What the compiler said about it. */
  readonly diagnostics: readonly InfoDiagnostic[];
}

/** Code that replaces a part of what runs, and the definitions to describe. */
export interface PatchCode {
  readonly id: number;
  readonly root: string;
  readonly code: ProjectCode;
  readonly entries: readonly EvaluationEntry[];
}

/** What makes a patch that has run the one that is served. */
export interface PatchCommit extends Pick<AgentBundle, "manifest" | "files"> {
  readonly id: number;
  readonly diagnostics: readonly InfoDiagnostic[];
}

/** Options that survive the way to another process. */
export type ServerOptions = Omit<HostOptions, "log">;

export type ToServer =
  | { readonly kind: "start"; readonly generation: Generation; readonly options: ServerOptions }
  | { readonly kind: "swap"; readonly generation: Generation }
  | { readonly kind: "patch"; readonly patch: PatchCode }
  | { readonly kind: "commit"; readonly commit: PatchCommit }
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
  /** A patch's code runs from now on: should nothing more be heard, it is stuck there. */
  | { readonly kind: "patching"; readonly id: number }
  | { readonly kind: "patched"; readonly id: number; readonly outcomes: readonly EntryOutcome[] }
  /**
   * The code could not be loaded (`code`), or the server not start with it (`startup`: the address is taken, options contradict
   * each other). After a refused `swap` or `patch` the old code goes on.
   */
  | { readonly kind: "refused"; readonly id: number; readonly message: string; readonly reason: "code" | "startup" }
  | { readonly kind: "closed" };
