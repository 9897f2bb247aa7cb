/** Turns what went wrong in evaluation into diagnostics at the project's own lines. */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Definition } from "../analyze/definition.js";
import { type Diagnostic, type DiagnosticInit, diagnostic, type Label, type Span } from "../diagnostics/diagnostic.js";
import { isProject } from "../link/input-names.js";
import { titleOf } from "../scan/package-json.js";
import type { Failure, Incident, Problem } from "./protocol.js";
import type { Tracer } from "./trace.js";

/** A failure, and all the definitions that can't load for it. */
export interface SharedFailure {
  readonly failure: Failure;
  readonly definitions: readonly Definition[];
  /** Names that the faulty modules read and that are not set. */
  readonly unset: readonly string[];
}

export interface ReportContext {
  readonly root: string;
  readonly tracer: Tracer;
  readonly timeoutMs: number;
  /** What the project printed while loading. */
  readonly output: string;
}

/** Something wrong with a definition's own fields, at the field. */
export function reportProblem(problem: Problem, definition: Definition): Diagnostic {
  const { code, message, path: field, also, help, severity } = problem;
  const { kind, package: of } = definition.entry;
  if (kind === "extension" && of !== undefined && code === "wrongDefine") {
    return diagnostic("notAnExtension", {
      message: `${titleOf(of)} is no extension: ${message}`,
      at: definition.span,
      help: "an extension's entry module has `export default defineExtension({ root: import.meta.dirname, description })`",
    });
  }
  return diagnostic(code, {
    message: `${nameOf(definition)}${ofPackage(definition)}: ${message}`,
    at: labelsOf(definition, field, also),
    ...(help === undefined ? {} : { help: `${variablesBehind(definition, code, field)}${help}` }),
    ...(severity === undefined ? {} : { severity }),
  });
}

/** The settings of an extension are often the environment's: then that is what has to be mended. */
function variablesBehind({ env }: Definition, code: Problem["code"], field: string): string {
  if (code !== "extensionSettings") return "";
  const within = env.filter(({ field: of }) => of === field || of?.startsWith(`${field}.`));
  const names = [...new Set(within.map(({ name }) => name))];
  return names.length === 0 ? "" : `set ${names.join(", ")} to what it asks for, or `;
}

function labelsOf(definition: Definition, field: string, also: Problem["also"]): readonly Label[] {
  const span = spanOfField(definition, field);
  const other = also === undefined ? span : spanOfField(definition, also.path);
  // Of what a list brings from elsewhere, syntax shows no more than the list.
  const isElsewhere = other.line !== span.line || other.column !== span.column;
  return [{ span, primary: true }, ...(isElsewhere ? [{ span: other, text: also?.text ?? "" }] : [])];
}

/** The span of the deepest part of a field's path that syntax shows. */
export function spanOfField({ fields, span }: Definition, field: string): Span {
  const parts = field.replaceAll("[]", "").split(".").filter(Boolean);
  for (let length = parts.length; length > 0; length -= 1) {
    const found = fields[parts.slice(0, length).join(".")];
    if (found !== undefined) return found;
  }
  return span;
}

/** A module that did not load. */
export function reportFailure(shared: SharedFailure, context: ReportContext): Diagnostic {
  const { failure, definitions, unset } = shared;
  const [first] = definitions;
  const module = failure.module !== undefined && isProject(failure.module) ? failure.module : first?.entry.file;
  const inPackage = first === undefined ? undefined : placeInPackage(failure, first, context);
  const at = inPackage === undefined ? placesOf(failure, module, context) : [{ span: inPackage, primary: true }];
  const reads =
    unset.length === 0 ? [] : [`it reads ${unset.join(", ")}, which ${unset.length === 1 ? "is" : "are"} not set`];
  const others = definitions.filter(({ entry }) => entry.file !== module);
  const verb = others.length === definitions.length ? "stops" : "also stops";
  const also = others.length === 0 ? [] : [`it ${verb} ${others.map(nameOf).join(", ")}`];
  const printed = context.output.trim();
  const notes = [...reads, ...also, ...(printed === "" ? [] : [`output: ${printed.slice(-2_000)}`])];
  const what = faultyPart(module, first);
  const init = { at, notes } satisfies Partial<DiagnosticInit>;
  switch (failure.kind) {
    case "unmounted":
    case "threw": {
      const early = readsEarly(failure, context);
      if (early !== undefined) return diagnostic("loadFailed", { ...init, ...early });
      return diagnostic("loadFailed", {
        message: `${what} throws while it loads: ${failure.message}`,
        help:
          unset.length > 0
            ? `set ${unset.join(", ")}, or read it where it is used`
            : "mend it, or move the work into the function that needs it",
        ...init,
      });
    }
    case "timeout":
      return diagnostic("loadTimeout", {
        message: `${what} did not finish loading within ${context.timeoutMs / 1000} s`,
        help: "a top-level await or loop never ends; move that work into the function that needs it",
        ...init,
      });
    case "exit":
      return diagnostic("exitAtLoad", {
        message: `${what} calls ${failure.message} while it loads`,
        help: "throw an error instead: the server reports it and names this line",
        ...init,
      });
    case "died":
      return diagnostic("loadCrashed", {
        message: `the process died (${failure.message}) while ${what} was loading`,
        help: "a native addon, or memory without end, is the usual cause",
        ...init,
      });
  }
}

/** V8 names what was read too early as the linked text does; the source at that place has the name that was written. */
function readsEarly({ message, stack }: Failure, { root, tracer }: ReportContext) {
  if (!/^ReferenceError: Cannot access '[^']*' before initialization/.test(message)) return undefined;
  const [place] = tracer.frames(stack);
  if (place === undefined) return undefined;
  const line = readFileSync(path.join(root, place.file), "utf8").split("\n")[place.line - 1] ?? "";
  const name = /^[\w$]+/.exec(line.slice(place.column - 1))?.[0] ?? "a name";
  return {
    message: `${place.file} reads ${name} before it has a value`,
    help: "where modules import each other, one of them runs first: read it within a function, or move what both need to a third module",
  };
}

/** Something that a module did besides loading. */
export function reportIncident(incident: Incident, context: ReportContext): Diagnostic {
  const [place] = context.tracer.frames(incident.stack);
  const at = place === undefined ? {} : { at: place };
  const where = place?.file ?? "a package";
  switch (incident.kind) {
    case "exit":
      return diagnostic("exitAtLoad", {
        message: `${where} calls ${incident.message} while it loads`,
        help: "throw an error instead: the server reports it and names this line",
        ...at,
      });
    case "listen":
      return diagnostic("listenAtLoad", {
        message: `${where} opens a server while it loads: ${incident.message}`,
        help: "routes belong in bot/channels/; open what else you need in a channel's onStart",
        ...at,
      });
    case "rejection":
      return diagnostic("rejectedAtLoad", {
        message: `${where} starts something that fails and that nothing waits for: ${incident.message}`,
        help: "await it, or catch its error: at run time it would end the server",
        ...at,
      });
  }
}

/** A package that can't be mounted is at fault itself, wherever the mount stands. */
function faultyPart(module: string | undefined, first: Definition | undefined): string {
  const of = first?.entry.package;
  if (first === undefined || of === undefined) return module ?? "the project";
  const inPackage = first.entry.kind === "extension" && (of.dir === undefined || module === first.entry.file);
  return inPackage ? titleOf(of) : `${module ?? first.entry.file} (${titleOf(of)})`;
}

/** ` (@acme/ci@1.2.0)` behind what a package brings. */
function ofPackage({ entry }: Definition): string {
  return entry.package === undefined ? "" : ` (${titleOf(entry.package)})`;
}

/** `tool "approve_pr"`, `agent`. */
export function nameOf({ entry, name }: Definition): string {
  return name === "" ? entry.kind : `${entry.kind} "${name}"`;
}

/** The line of a contribution's own file in its package, which no frame of the project names. */
function placeInPackage({ stack }: Failure, { entry }: Definition, { tracer }: ReportContext): Span | undefined {
  const { name, dir } = entry.package ?? {};
  if (dir === undefined || !entry.file.startsWith(`${dir}/`)) return undefined;
  const found = tracer.within(stack, `node_modules/${name}${entry.file.slice(dir.length)}`);
  return found === undefined ? undefined : { ...found, file: entry.file };
}

/** Where the faulty module is at that moment, and where the error was made when that is somewhere else. */
function placesOf(failure: Failure, module: string | undefined, { tracer, root }: ReportContext): readonly Label[] {
  const frames = tracer.frames(failure.stack);
  const [thrown] = frames;
  const own = frames.find(({ file }) => file === module) ?? (module === undefined ? thrown : undefined);
  const primary =
    own ?? (module === undefined ? undefined : { file: module, line: suspectLine(root, module, failure), column: 1 });
  if (primary === undefined) return [];
  const elsewhere = thrown !== undefined && (thrown.file !== primary.file || thrown.line !== primary.line);
  return [
    { span: primary, primary: true, ...(elsewhere ? { text: "while loading this" } : {}) },
    ...(elsewhere ? [{ span: thrown, text: "thrown here" }] : []),
  ];
}

/** A module that hangs has no stack: its first statement that can wait is the likeliest. */
function suspectLine(root: string, module: string, { kind }: Failure): number {
  if (kind !== "timeout") return 1;
  const lines = readFileSync(path.join(root, module), "utf8").split("\n");
  const found = lines.findIndex((line) => /^(?:\S.*)?\bawait\b|^(?:while|for)\b/.test(line));
  return found < 0 ? 1 : found + 1;
}
