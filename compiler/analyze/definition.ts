import type { Span } from "../diagnostics/diagnostic.js";
import type { Entry } from "../scan/tree.js";
import type { Literal } from "./facts.js";
import type { Prose } from "./prose.js";

/** A read of `process.env.NAME` that syntax shows. */
export interface EnvRead {
  readonly name: string;
  readonly span: Span;
  /** Dotted path of the definition's field whose value it stands in. */
  readonly field?: string;
}

/**
 * Phase 2's value, one for each entry: what syntax alone can tell.
 * `code` entries have a module to evaluate; `prose` ones carry their text; `assets` are bytes.
 */
export interface Definition {
  /** `kind:name` with the mount's namespace, such as `tool:ci__job_log`; `agent` and the like for single-file slots. */
  readonly id: string;
  readonly entry: Entry;
  /** Name as the model and the manifest see it: `<ns>__<name>` for mounted entries. */
  readonly name: string;
  readonly form: "code" | "prose" | "assets";
  /** Where the definition starts: the `define*` call, or line 1. */
  readonly span: Span;
  /** The helper of ours that the default export calls (`defineTool`, `memoryHook`), when syntax shows one. */
  readonly define?: string;
  /**
   * Spans of the definition's fields, by dotted path (`description`, `inputSchema.when`, `events.turn.completed`): the
   * name of a property, or the key in front matter. For later phases to point at.
   */
  readonly fields: Readonly<Record<string, Span>>;
  /** Values of the fields that are written out, by dotted path. */
  readonly literals: Readonly<Record<string, Literal>>;
  /** Front matter and body, for Markdown. */
  readonly prose?: Omit<Prose, "fields">;
  /** Reads of the environment in its module and in every project module that it imports, however far. */
  readonly env: readonly EnvRead[];
}

/** All definitions of one agent. */
export interface AgentDefinitions {
  readonly slug: string;
  readonly definitions: readonly Definition[];
  /** Project modules that any definition reaches, entries included; POSIX, relative to the source root, in byte order. */
  readonly modules: readonly string[];
}

/**
 * Where facts about a file's syntax are kept between runs, by a key that contains a hash of its text.
 * A run that finds all of them there never loads ts-morph.
 */
export interface AnalysisCache {
  /** The JSON value put under the key, or undefined. */
  get(key: string): unknown;
  put(key: string, value: unknown): void;
}
