import type { Span } from "../diagnostics/diagnostic.js";
import type { Entry } from "../scan/tree.js";

/** A read of `process.env.NAME` that syntax shows. */
export interface EnvRead {
  readonly name: string;
  readonly span: Span;
}

/**
 * Phase 2's value, one for each entry: what syntax alone can tell.
 * `code` entries have a module to evaluate; `prose` ones carry their text.
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
  /** The helper that the default export calls (`defineTool`), when syntax shows one. */
  readonly define?: string;
  /** Spans of literal fields of the definition, by dotted path (`description`, `inputSchema`), for later phases to point at. */
  readonly fields: Readonly<Record<string, Span>>;
  /** Parsed front matter and body, for Markdown. */
  readonly prose?: { readonly attributes: Readonly<Record<string, unknown>>; readonly body: string };
  /** For `files` that are plain text or bytes (siblings, seeds): path inside the entry → source path. */
  readonly env: readonly EnvRead[];
}

/** All definitions of one agent, with the env reads of every project module reachable from them. */
export interface AgentDefinitions {
  readonly slug: string;
  readonly definitions: readonly Definition[];
}
