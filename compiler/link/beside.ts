/**
 * What a module finds relative to itself: `new URL("./prices.csv", import.meta.url)`, `join(__dirname, "prompts", name)`.
 * Syntax only. In the linked text a module has no file of its own, so each mention is rewritten to `__bdk.meta(key)`,
 * and the files it names are kept beside the bundle.
 */
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { ts } from "ts-morph";

/** A place that a module computes from its own, in absolute terms. */
export interface NamedPlace {
  readonly path: string;
  /** False when a later part is computed: anything below `path` may be meant. */
  readonly exact: boolean;
  readonly line: number;
  readonly column: number;
}

/** Where a module's own place goes somewhere that syntax can't follow. */
export interface OpaqueUse {
  readonly line: number;
  readonly column: number;
}

export interface SelfReference {
  /** The module's text with every mention rewritten. */
  readonly text: string;
  readonly places: readonly NamedPlace[];
  readonly opaque: readonly OpaqueUse[];
}

interface Place {
  readonly path: string;
  readonly exact: boolean;
  /** True for a `file:` URL or the module's file, false for a folder. */
  readonly file: boolean;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Quick test: whether a text can have anything to do with its own place. */
export const mentionsSelf = /\bimport\.meta\b|\b__dirname\b|\b__filename\b/;

/** Reads one module. `key` names it to `__bdk.meta`. */
export function readSelfReferences(file: string, text: string, key: string): SelfReference {
  const kind = /\.[cm]?tsx?$/.test(file) ? ts.ScriptKind.TSX : ts.ScriptKind.JSX;
  const exactKind = /\.[cm]?ts$/.test(file) ? ts.ScriptKind.TS : kind;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, exactKind);
  const names = constants(source);
  const meta = `__bdk.meta(${JSON.stringify(key)})`;
  const edits: Edit[] = [];
  const places: NamedPlace[] = [];
  const opaque: OpaqueUse[] = [];
  const aliases = new Set<string>();
  const requires = new Map<string, ts.Identifier>();

  const at = (node: ts.Node): OpaqueUse => {
    const { line, character } = source.getLineAndCharacterOfPosition(node.getStart(source));
    return { line: line + 1, column: character + 1 };
  };

  /** Follows a mention outwards to the largest expression that is still a place, and notes what it names. */
  const follow = (mention: ts.Expression): void => {
    let whole: ts.Expression = mention;
    let place = placeOf(whole, file, names);
    for (let next = parentExpression(whole); next !== undefined; next = parentExpression(next)) {
      const larger = placeOf(next, file, names);
      if (larger !== undefined) [whole, place] = [next, larger];
    }
    if (place === undefined || isHarmless(whole, place, file)) return;
    const declared = declaredName(whole);
    if (declared !== undefined) {
      aliases.add(declared);
      return;
    }
    const own = path.dirname(file);
    if (place.path === file || (place.path === own && !place.exact) || (place.path === own && whole === mention)) {
      opaque.push(at(whole));
    } else {
      places.push({ path: place.path, exact: place.exact, ...at(whole) });
    }
  };

  const mentions: ts.Expression[] = [];
  visit(source, (node) => {
    if (isImportMeta(node)) {
      const parent = node.parent;
      const member = ts.isPropertyAccessExpression(parent) && parent.expression === node;
      edits.push({ start: node.getStart(source), end: node.getEnd(), text: meta });
      if (member && ["url", "dirname", "filename"].includes(parent.name.text)) mentions.push(parent);
      else if (member && parent.name.text === "resolve") mentions.push(parent);
      else if (!member) opaque.push(at(node));
    } else if (ts.isIdentifier(node) && isFreeSelfName(node)) {
      const member = node.text === "__dirname" ? "dirname" : "filename";
      edits.push({ start: node.getStart(source), end: node.getEnd(), text: `${meta}.${member}` });
      mentions.push(node);
    }
  });
  for (const mention of mentions) {
    const creation = mention.parent;
    if (!ts.isCallExpression(creation) || calleeName(creation) !== "createRequire") {
      follow(mention);
      continue;
    }
    const user = creation.parent;
    if (ts.isVariableDeclaration(user) && ts.isIdentifier(user.name)) {
      requires.set(user.name.text, user.name);
    } else if (
      ts.isCallExpression(user) &&
      user.expression === creation &&
      user.arguments.every(ts.isStringLiteralLike)
    ) {
      edits.push({ start: creation.getStart(source), end: creation.getEnd(), text: "require" });
    }
  }
  for (const seen = new Set<string>(); ; ) {
    const fresh = [...aliases].filter((name) => !seen.has(name));
    if (fresh.length === 0) break;
    for (const name of fresh) {
      seen.add(name);
      visit(source, (node) => {
        if (!ts.isIdentifier(node) || node.text !== name || isDeclaration(node)) return;
        if (ts.isExportSpecifier(node.parent)) opaque.push(at(node));
        else follow(node);
      });
    }
  }
  for (const [name, declaration] of requires) {
    visit(source, (node) => {
      if (!ts.isIdentifier(node) || node.text !== name || (isDeclaration(node) && node !== declaration)) return;
      const call = node.parent;
      const literal =
        ts.isCallExpression(call) && call.expression === node && call.arguments.some(ts.isStringLiteralLike);
      // A call with a literal becomes a plain require, which the linker follows; the rest keeps the real one.
      const text = literal ? "require" : `__bdk_${name}`;
      if (text !== name) edits.push({ start: node.getStart(source), end: node.getEnd(), text });
    });
  }
  return { text: applyEdits(text, edits), places, opaque };
}

/** The place that an expression stands for, if it is one. */
function placeOf(
  node: ts.Expression,
  file: string,
  names: ReadonlyMap<string, ts.Expression>,
  depth = 0,
): Place | undefined {
  if (depth > 16) return undefined;
  const inner = (each: ts.Expression): Place | undefined => placeOf(each, file, names, depth + 1);
  if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node))
    return inner(node.expression);
  if (ts.isIdentifier(node)) {
    if (node.text === "__dirname") return { path: path.dirname(file), exact: true, file: false };
    if (node.text === "__filename") return { path: file, exact: true, file: true };
    const initializer = names.get(node.text);
    return initializer === undefined ? undefined : inner(initializer);
  }
  if (ts.isPropertyAccessExpression(node)) {
    if (isImportMeta(node.expression)) {
      if (node.name.text === "dirname") return { path: path.dirname(file), exact: true, file: false };
      if (node.name.text === "url" || node.name.text === "filename") return { path: file, exact: true, file: true };
      return undefined;
    }
    return ["href", "pathname"].includes(node.name.text) ? inner(node.expression) : undefined;
  }
  if (ts.isNewExpression(node) && calleeName(node) === "URL") {
    const [target, base] = node.arguments ?? [];
    const from = base === undefined ? undefined : inner(base);
    return target === undefined || from === undefined
      ? undefined
      : extend(from.file ? path.dirname(from.path) : from.path, [target], from);
  }
  if (ts.isCallExpression(node)) {
    const [first, ...rest] = node.arguments;
    if (first === undefined) {
      const method = ts.isPropertyAccessExpression(node.expression) ? node.expression : undefined;
      return method?.name.text === "toString" ? inner(method.expression) : undefined;
    }
    const name = calleeName(node);
    if (
      name === "resolve" &&
      ts.isPropertyAccessExpression(node.expression) &&
      isImportMeta(node.expression.expression)
    ) {
      const relative = ts.isStringLiteralLike(first) && first.text.startsWith(".");
      return relative ? extend(path.dirname(file), [first], { path: file, exact: true, file: true }) : undefined;
    }
    const from = inner(first);
    if (from === undefined) return undefined;
    if (name === "fileURLToPath" || name === "pathToFileURL" || name === "String" || name === "normalize") return from;
    if (name === "dirname") return { path: path.dirname(from.path), exact: from.exact, file: false };
    if (name === "join" || name === "resolve") return extend(from.path, rest, from);
    return undefined;
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const from = inner(node.left);
    return from === undefined ? undefined : extend(from.path, [node.right], from);
  }
  if (ts.isTemplateExpression(node) && node.head.text === "") {
    const [first, ...rest] = node.templateSpans;
    const from = first === undefined ? undefined : inner(first.expression);
    if (first === undefined || from === undefined) return undefined;
    const below = path.join(from.path, first.literal.text);
    return rest.length === 0
      ? { path: below, exact: from.exact, file: false }
      : { path: wholeFolder(below, first.literal.text), exact: false, file: false };
  }
  return undefined;
}

/** A place further down: literal parts are joined until a computed one leaves everything below open. */
function extend(start: string, parts: readonly ts.Expression[], from: Place): Place {
  let current = start;
  for (const part of parts) {
    if (!from.exact) return { path: current, exact: false, file: false };
    if (ts.isStringLiteralLike(part)) {
      current = path.join(current, decodeURI(part.text.replace(/[?#].*$/, "")));
    } else if (ts.isTemplateExpression(part)) {
      return { path: wholeFolder(path.join(current, part.head.text), part.head.text), exact: false, file: false };
    } else {
      return { path: current, exact: false, file: false };
    }
  }
  return { path: current.replace(/\/$/, ""), exact: from.exact, file: false };
}

/** Folder that a cut-off path leads into: `prompts/` of `prompts/x-${n}`. */
function wholeFolder(cut: string, text: string): string {
  return text.endsWith("/") || text === "" ? cut.replace(/\/$/, "") : path.dirname(cut);
}

/** Uses that need no file: comparing with argv[1], `createRequire`, the root of an extension. */
function isHarmless(node: ts.Expression, place: Place, file: string): boolean {
  const parent = node.parent;
  if (ts.isBinaryExpression(parent)) {
    const operator = parent.operatorToken.kind;
    return (
      operator === ts.SyntaxKind.EqualsEqualsEqualsToken ||
      operator === ts.SyntaxKind.EqualsEqualsToken ||
      operator === ts.SyntaxKind.ExclamationEqualsEqualsToken ||
      operator === ts.SyntaxKind.ExclamationEqualsToken
    );
  }
  if (ts.isTypeOfExpression(parent)) return true;
  const own = place.path === path.dirname(file);
  return own && ts.isPropertyAssignment(parent) && ts.isIdentifier(parent.name) && parent.name.text === "root";
}

function declaredName(node: ts.Expression): string | undefined {
  const parent = node.parent;
  if (!ts.isVariableDeclaration(parent) || parent.initializer !== node || !ts.isIdentifier(parent.name))
    return undefined;
  const statement = parent.parent.parent;
  const exported =
    ts.isVariableStatement(statement) && statement.modifiers?.some((each) => each.kind === ts.SyntaxKind.ExportKeyword);
  return exported === true ? undefined : parent.name.text;
}

/** Initializers of names declared exactly once. */
function constants(source: ts.SourceFile): ReadonlyMap<string, ts.Expression> {
  const found = new Map<string, ts.Expression>();
  const twice = new Set<string>();
  visit(source, (node) => {
    if (!ts.isVariableDeclaration(node) || !ts.isIdentifier(node.name)) return;
    if (found.has(node.name.text)) twice.add(node.name.text);
    if (node.initializer !== undefined) found.set(node.name.text, node.initializer);
  });
  for (const name of twice) found.delete(name);
  return found;
}

function calleeName(node: ts.CallExpression | ts.NewExpression): string | undefined {
  const callee = node.expression;
  if (ts.isIdentifier(callee)) return callee.text;
  return ts.isPropertyAccessExpression(callee) ? callee.name.text : undefined;
}

function parentExpression(node: ts.Expression): ts.Expression | undefined {
  const parent = node.parent;
  if (ts.isTemplateSpan(parent)) return parent.parent;
  return ts.isExpression(parent) ? parent : undefined;
}

function isImportMeta(node: ts.Node): node is ts.MetaProperty {
  return ts.isMetaProperty(node) && node.keywordToken === ts.SyntaxKind.ImportKeyword;
}

/** `__dirname` or `__filename` as a value, not a property or a declaration. */
function isFreeSelfName(node: ts.Identifier): boolean {
  if (node.text !== "__dirname" && node.text !== "__filename") return false;
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return false;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return false;
  return !isDeclaration(node) && !declaresName(node.getSourceFile(), node.text);
}

/** ES modules often declare `const __dirname = dirname(fileURLToPath(import.meta.url))` themselves. */
function declaresName(source: ts.SourceFile, name: string): boolean {
  return constants(source).has(name);
}

function isDeclaration(node: ts.Identifier): boolean {
  const parent = node.parent;
  return (
    (ts.isVariableDeclaration(parent) && parent.name === node) ||
    (ts.isParameter(parent) && parent.name === node) ||
    (ts.isBindingElement(parent) && parent.name === node) ||
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node)
  );
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = "";
  let position = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (edit.start < position) continue; // inside one that is applied already
    result += text.slice(position, edit.start) + edit.text;
    position = edit.end;
  }
  return result + text.slice(position);
}

/** What stands at a place: a file, a folder, or nothing. */
export function standsAt(place: string): "file" | "folder" | undefined {
  if (!existsSync(place)) return undefined;
  return statSync(place).isDirectory() ? "folder" : "file";
}
