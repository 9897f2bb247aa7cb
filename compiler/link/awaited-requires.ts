/**
 * `require()` of a module that awaits at its top level: Node refuses it, and linked text would hand out a module that is
 * not ready. esbuild says nothing, so this looks for it.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Metafile } from "esbuild";
import type { ts } from "ts-morph";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostic.js";
import { isMade } from "./input-names.js";

type Inputs = Metafile["inputs"];

/** @param nameFile Name of an input as diagnostics show it. */
export async function awaitedRequires(
  root: string,
  inputs: Inputs,
  nameFile: (file: string) => string,
): Promise<readonly Diagnostic[]> {
  const requires = Object.entries(inputs).flatMap(([file, { imports }]) =>
    imports
      .filter((each) => each.kind === "require-call" && inputs[each.path]?.format === "esm")
      .map((each) => ({ file, target: each.path, specifier: each.original ?? each.path })),
  );
  if (requires.length === 0) return [];
  const { ts } = await import("ts-morph");
  const known = new Map<string, boolean>();
  const awaits = (file: string): boolean => {
    const found = known.get(file) ?? awaitsAtTop(ts, file, readFileSync(path.resolve(root, file), "utf8"));
    known.set(file, found);
    return found;
  };
  return requires.flatMap(({ file, target, specifier }) => {
    const awaiting = reached(inputs, target).find(awaits);
    if (awaiting === undefined) return [];
    const lines = readFileSync(path.resolve(root, file), "utf8").split("\n");
    const index = Math.max(
      0,
      lines.findIndex((line) => line.includes("require") && line.includes(specifier)),
    );
    return diagnostic("linkFailed", {
      message: `"${specifier}" can't be required: ${nameFile(awaiting)} awaits at its top level`,
      at: { file: nameFile(file), line: index + 1, column: Math.max(0, lines[index]?.indexOf("require") ?? 0) + 1 },
      help: "use import or import() instead of require",
    });
  });
}

/** ES modules that load together with a module. */
function reached(inputs: Inputs, start: string): readonly string[] {
  const seen = new Set<string>();
  const queue = [start];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const input = inputs[next];
    if (seen.has(next) || input?.format !== "esm") continue;
    seen.add(next);
    queue.push(...input.imports.filter(({ kind }) => kind === "import-statement").map((each) => each.path));
  }
  return [...seen].filter((file) => !isMade(file));
}

function awaitsAtTop(typescript: typeof ts, file: string, text: string): boolean {
  if (!/\bawait\b/.test(text)) return false;
  const { createSourceFile, forEachChild, ScriptTarget } = typescript;
  const visit = (node: ts.Node): boolean => {
    if (typescript.isFunctionLike(node) || typescript.isPropertyDeclaration(node)) return false;
    if (typescript.isAwaitExpression(node)) return true;
    if (typescript.isForOfStatement(node) && node.awaitModifier !== undefined) return true;
    return forEachChild(node, visit) ?? false;
  };
  return visit(createSourceFile(file, text, ScriptTarget.Latest, true));
}
