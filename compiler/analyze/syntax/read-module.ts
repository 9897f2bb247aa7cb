/** The only door to ts-morph: imported when a file's facts are not in the cache, and not before. */
import type { ts as Ts } from "ts-morph";
import type { ModuleFacts } from "../facts.js";
import { isWrite, readEnv } from "./env.js";
import { readDefaultExport } from "./exported.js";
import { readCalledImport, readStaticImports } from "./imports.js";
import { placeBetween } from "./place.js";
import { readReexports } from "./reexports.js";
import { readScope, type Scope } from "./scope.js";
import { ts } from "./ts.js";

/** Comments say nothing that is looked at here. */
const options: Ts.CreateSourceFileOptions = {
  languageVersion: ts.ScriptTarget.Latest,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
};

/**
 * Reads one module's syntax.
 *
 * @param ending The file's ending with its dot: it says whether types and JSX are allowed.
 */
export function readModule(text: string, ending: string): ModuleFacts {
  try {
    return readFacts(text, ending);
  } catch (error) {
    // Generated code can be nested deeper than the stack. Nothing is known of it then, and running it tells the rest.
    if (error instanceof RangeError) return unknown;
    throw error;
  }
}

const unknown: ModuleFacts = {
  imports: [],
  env: [],
  mentions: [],
  exported: { place: [1, 1, 1, 1], form: "opaque", properties: [], open: true },
};

function readFacts(text: string, ending: string): ModuleFacts {
  const source = ts.createSourceFile(`module${ending}`, text, options, false, scriptKind(ending));
  const error = firstError(source);
  if (error !== undefined) return { error, imports: [], env: [], mentions: [] };

  const scope = readScope(source);
  const exported = readDefaultExport(scope);
  const deep = readDeep(scope);
  const reexports = readReexports(scope);
  return {
    imports: [...readStaticImports(source), ...deep.imports],
    env: deep.env,
    mentions: readMentions(text),
    ...(exported === undefined ? {} : { exported }),
    ...(reexports.length === 0 ? {} : { reexports }),
  };
}

/** What may stand anywhere in the module; most modules hold none of it, and their text shows that at a glance. */
function readDeep(scope: Scope): Pick<ModuleFacts, "imports" | "env"> {
  const imports: ModuleFacts["imports"][number][] = [];
  const env: ModuleFacts["env"][number][] = [];
  const visit = (node: Ts.Node, parent: Ts.Node): void => {
    const imported = readCalledImport(node, scope.source);
    if (imported !== undefined) imports.push(imported);
    if (!isWrite(node, parent)) env.push(...readEnv(node, scope));
    ts.forEachChild(node, (child) => visit(child, node));
  };
  if (/\benv\b|\bimport\s*\(|\brequire\s*\(/.test(scope.source.text)) visit(scope.source, scope.source);
  return { imports, env };
}

/** Last parts of string literals that look like names of data files. */
function readMentions(text: string): readonly string[] {
  if (!/\.(?:md|txt|json|ya?ml|toml|markdown)/.test(text)) return [];
  const names = text.matchAll(/([^\s"'`/\\]+\.[A-Za-z0-9]{1,8})["'`?]/g);
  return [...new Set([...names].map((match) => match[1] ?? ""))];
}

function firstError(source: Ts.SourceFile): ModuleFacts["error"] {
  const errors = parseErrors(source);
  const [first] = errors;
  if (first === undefined) return undefined;
  const message = ts.flattenDiagnosticMessageText(first.messageText, " ");
  const place = placeBetween(first.start, first.start + Math.max(1, first.length), source);
  return { message, place, more: errors.length - 1 };
}

/** The parser leaves its errors on the tree; the public way to them builds a whole program first. */
function parseErrors(source: Ts.SourceFile): readonly Ts.DiagnosticWithLocation[] {
  return "parseDiagnostics" in source ? (source.parseDiagnostics as readonly Ts.DiagnosticWithLocation[]) : [];
}

function scriptKind(ending: string): Ts.ScriptKind {
  if (/^\.[cm]?ts$/.test(ending)) return ts.ScriptKind.TS;
  return ending === ".tsx" ? ts.ScriptKind.TSX : ending === ".jsx" ? ts.ScriptKind.JSX : ts.ScriptKind.JS;
}
