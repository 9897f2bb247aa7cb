/** Turns what esbuild says into diagnostics at the project's own lines. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Message } from "esbuild";
import { packageAliases } from "../aliases.js";
import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import { plainFile } from "./input-names.js";
import { distFile, readPackage } from "./package-folder.js";
import { unreadableFile } from "./pardon.js";
import type { ImportProblem } from "./resolution.js";

/** Where a file stands, as diagnostics name it. */
export type NameFile = (file: string) => string;

/** An error that stopped the linker. */
export function linkError(message: Message, nameFile: NameFile, root: string): Diagnostic {
  const at = spanOf(message, nameFile) ?? placeOfUnreadable(message.text, nameFile);
  const place = at === undefined ? {} : { at };
  const problem = message.detail as ImportProblem | undefined;
  if (problem?.kind === "forbidden") {
    return diagnostic("forbiddenImport", {
      message: `"${problem.specifier}" can't be imported by code that is itself served`,
      help: "call it from a script of your own outside the project's folders, or import only its types",
      ...place,
    });
  }
  if (problem?.kind === "external-conflict") {
    return diagnostic("externalConflict", {
      message: `two versions of "${problem.specifier}" are imported, and neither can be linked into the bundle`,
      help: "make all packages agree on one version (npm dedupe, or overrides in package.json)",
      ...place,
    });
  }
  const unresolved = /^Could not resolve "([^"]+)"/.exec(message.text)?.[1];
  if (unresolved !== undefined) return unresolvedImport(asWritten(unresolved), message, place, root);
  const ending = /^No loader is configured for "([^"]*)" files/.exec(message.text)?.[1];
  if (ending !== undefined) {
    return diagnostic("unsupportedFile", {
      message: `files ending in "${ending}" can't be imported`,
      help: 'import the text with "?raw", or read the bytes with readFile(new URL("./file", import.meta.url))',
      ...place,
    });
  }
  const missing = /^No matching export in "([^"]+)" for import "([^"]+)"/.exec(message.text);
  if (missing !== null) {
    return diagnostic("missingExport", {
      message: `"${nameFile(missing[1] ?? "")}" has no export named "${missing[2]}"`,
      help: suggestion(message) ?? "check the name, or export it there",
      ...place,
    });
  }
  const syntax = isSyntaxError(message.text);
  return diagnostic(syntax ? "syntaxError" : "linkFailed", {
    message: message.text,
    notes: notesOf(message),
    ...place,
  });
}

/** What the linker only doubts: of files that the project's authors can change, and an error where it is sure to fail. */
export function linkWarning(message: Message, nameFile: NameFile): Diagnostic | undefined {
  const at = spanOf(message, nameFile);
  if (at === undefined || at.file.startsWith("node_modules/") || at.file.startsWith("bdk:")) return undefined;
  // The definitions' modules are imported whole; analysis has already said which lack a default export.
  if (message.id === "import-is-undefined" && at.file === "") return undefined;
  if (message.id === "empty-glob") {
    return diagnostic("missingImport", {
      message: `nothing fits ${/import\(.*\)|require\(.*\)/.exec(message.text)?.[0] ?? "this pattern"}`,
      at,
      help: 'leave the ending to the name, as in import("./plugins/" + name): one.js then means one.ts as well',
    });
  }
  return diagnostic("linkWarning", { message: message.text, at, notes: notesOf(message) });
}

function unresolvedImport(
  specifier: string,
  message: Message,
  place: { readonly at?: Span },
  root: string,
): Diagnostic {
  if (specifier.startsWith(".") || specifier.startsWith("/")) {
    return diagnostic("missingImport", {
      message: `there is no module "${specifier}"`,
      help: "check the path; it is relative to this file",
      ...place,
    });
  }
  const own = packageAliases.find((name) => specifier.startsWith(`${name}/`));
  if (own !== undefined) {
    return diagnostic("unknownSubpath", {
      message: `"${own}" has no subpath "${specifier.slice(own.length)}"`,
      help: `the reference lists the subpaths; most helpers also stand in "${own}" itself`,
      ...place,
    });
  }
  const name = packageName(specifier);
  const reason = message.notes.map((note) => note.text).find((text) => !/mark the path|marking the/i.test(text));
  if (reason !== undefined && /not exported|"exports"|"main"|"\." is not|main fields/i.test(reason)) {
    return diagnostic("packageEntry", {
      message: `the package "${name}" does not export "${specifier === name ? "." : `.${specifier.slice(name.length)}`}"`,
      help: "import one of the paths that its package.json exports",
      notes: [reason],
      ...place,
    });
  }
  const importer = path.resolve(root, plainFile(message.location?.file ?? ""));
  const folder = folderOfPackage(name, path.dirname(importer));
  if (folder !== undefined) {
    return diagnostic("packageEntry", {
      message: whyNoEntry(specifier, name, folder, reason),
      help: "install it again; where it is built from source, build it",
      ...place,
    });
  }
  return diagnostic("missingPackage", {
    message: `the package "${name}" is not installed`,
    help: `npm install ${name} adds it; where package.json lists it already, run npm install`,
    ...place,
  });
}

/** Where a package stands that a module in this folder imports, whatever state it is in. */
function folderOfPackage(name: string, from: string): string | undefined {
  const folder = path.join(from, "node_modules", name);
  if (existsSync(folder)) return folder;
  return from === path.dirname(from) ? undefined : folderOfPackage(name, path.dirname(from));
}

/** Of a package that is there: a file that was left out of it, a build that was not run, an installation cut short. */
function whyNoEntry(specifier: string, name: string, folder: string, reason = ""): string {
  const found = readPackage(folder);
  if (found === undefined) {
    const state = existsSync(path.join(folder, "package.json")) ? "one that can't be read" : "none";
    return `the package "${name}" can't be loaded: it should have a package.json with a name, and has ${state}`;
  }
  const title = "version" in found.manifest ? `${name}@${found.version}` : name;
  const missing = /^The module "([^"]+)" was not found/.exec(reason)?.[1];
  const wanted = specifier === name ? "entry" : `module ".${specifier.slice(name.length)}"`;
  return missing === undefined
    ? `${title} can't be loaded: it has no ${wanted}`
    : `${title} can't be loaded: its package.json names ${missing}, and there is no such file`;
}

/** What esbuild adds, but for what it tells of our own plugin. */
function notesOf({ notes }: Message): readonly string[] {
  return notes.map((note) => note.text).filter((text) => !text.startsWith("The plugin "));
}

/** Our own subpaths are aliases of files: the name that the project wrote stands in the line. */
function asWritten(specifier: string): string {
  const folder = `${distFile("authoring")}/`;
  return specifier.startsWith(folder) ? `${packageAliases[0]}/${specifier.slice(folder.length)}` : specifier;
}

/** `@scope/name/sub` → `@scope/name`. */
function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function spanOf({ location }: Message, nameFile: NameFile): Span | undefined {
  if (location === null) return undefined;
  const prefix = Buffer.from(location.lineText, "utf8").subarray(0, location.column).toString("utf8");
  const column = prefix.length + 1;
  const length = Math.max(1, location.length);
  const file = location.namespace === "bdk" ? "" : nameFile(location.file);
  return { file, line: location.line, column, endLine: location.line, endColumn: column + length };
}

function placeOfUnreadable(text: string, nameFile: NameFile): Span | undefined {
  const file = unreadableFile(text);
  return file === undefined ? undefined : { file: nameFile(file), line: 1, column: 1 };
}

function suggestion({ notes, location }: Message): string | undefined {
  const hint = location?.suggestion;
  if (hint !== undefined && hint !== "") return `did you mean ${hint}?`;
  return notes
    .map((note) => /Did you mean to import "([^"]+)"/.exec(note.text)?.[1])
    .find((name) => name !== undefined);
}

/** esbuild words every failure of its parser in one of these ways. */
function isSyntaxError(text: string): boolean {
  return /^(?:Expected|Unexpected|Unterminated|Invalid|Syntax error|Multiple|The symbol|Cannot assign|Legacy|Delete of|Duplicate)/.test(
    text,
  );
}
