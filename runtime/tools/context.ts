import type { ArtifactScope } from "../artifacts/api.js";
import type { ArtifactsApi } from "../authoring/artifacts.js";
import type { HostServices, SessionInfo } from "../authoring/host.js";
import type { ToolContext, ToolLogLevel } from "../authoring/tools.js";
import type { CallScope, Log, SessionRecord } from "../session/ports.js";
import { messageOf } from "./result.js";
import type { ServicesOf } from "./services.js";

/** What authored code needs of the host, made per agent. */
export interface ContextSources {
  readonly agentName: string;
  readonly stateRoot: string;
  readonly services: ServicesOf;
  readonly artifacts: (scope: ArtifactScope) => ArtifactsApi;
  /** Path of the workspace; of a session's own, or of one made for a call outside any. */
  readonly workspaceDir: (record: SessionRecord | undefined, callId: string) => string;
  /** The server's log. */
  readonly log: Log;
}

/** The namespace that an extension's entry, or its overlay, has in its name; `undefined` for entries of the project. */
export function namespaceOf({ name, layer }: { readonly name: string; readonly layer: string }): string | undefined {
  const end = name.indexOf("__");
  return (layer === "extension" || layer === "overlay") && end > 0 ? name.slice(0, end) : undefined;
}

/** A session as authored code sees it. */
export function sessionInfo(record: SessionRecord): SessionInfo {
  const { owner: _, createdAt: __, asOf: ___, ...info } = record;
  return info;
}

const logLevels: ReadonlySet<string> = new Set(["debug", "info", "warning", "error"] satisfies ToolLogLevel[]);

/** Authors in JavaScript pass what is no text, too. */
function textOf(message: unknown): string {
  return typeof message === "string" ? message : messageOf(message);
}

/** `ctx` of one call. Everything but the scope is made when it is first asked for: most tools use none of it. */
export class CallContext implements ToolContext {
  readonly #scope: CallScope;
  readonly #sources: ContextSources;
  readonly #namespace: string | undefined;
  #controller: AbortController | undefined;
  #aborted: Error | undefined;
  #session: SessionInfo | undefined;
  #host: HostServices | undefined;

  /** @param namespace of the extension that the code belongs to */
  constructor(scope: CallScope, sources: ContextSources, namespace?: string) {
    this.#scope = scope;
    this.#namespace = namespace;
    this.#sources = sources;
  }

  get session(): SessionInfo {
    const { record, callId, caller = { kind: "app", id: "host" } } = this.#scope;
    this.#session ??= record === undefined ? { id: callId, mode: "chat", auth: caller } : sessionInfo(record);
    return this.#session;
  }

  get agent(): { readonly name: string } {
    return { name: this.#sources.agentName };
  }

  get host(): HostServices {
    this.#host ??= this.#sources.services(this.#scope.record, this.#scope.caller);
    return this.#host;
  }

  get artifacts(): ArtifactsApi {
    const { record, turnId } = this.#scope;
    return this.#sources.artifacts({ record, turnId, namespace: this.#namespace });
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    return this.#controller.signal;
  }

  get toolCallId(): string {
    return this.#scope.callId;
  }

  get workspaceDir(): string {
    return this.#sources.workspaceDir(this.#scope.record, this.#scope.callId);
  }

  get stateRoot(): string {
    return this.#sources.stateRoot;
  }

  now(): Date {
    const asOf = this.#scope.record?.asOf;
    return asOf === undefined ? new Date() : new Date(asOf);
  }

  progress(progress: number, total?: number, message?: string): void {
    if (!Number.isFinite(progress)) return; // no number that JSON knows
    const known = Number.isFinite(total) ? total : undefined;
    this.#scope.notices?.progress?.(progress, known, message === undefined ? undefined : textOf(message));
  }

  log(level: ToolLogLevel, message: string): void {
    const known = logLevels.has(level) ? level : "info";
    const text = textOf(message);
    // Further lines are indented: a text of others can't pass for a line of the log.
    const told = text.replace(/\r\n?|[\n\u2028\u2029]/g, "\n  ");
    this.#sources.log(known === "warning" ? "warn" : known, `${this.#scope.callId}: ${told}`);
    this.#scope.notices?.log?.(known, text);
  }

  /** Tells the tool to stop; works also for a tool that looks at its signal only later. */
  abort(reason: Error): void {
    this.#aborted ??= reason;
    this.#controller?.abort(reason);
  }
}
