/**
 * Makes `dist/parser/`: TypeScript's parser as ts-morph carries it, minified, with V8's code cache beside it. Loading
 * that takes a quarter of what loading ts-morph does, and every cold build pays for it once.
 */
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

/**
 * @param root The package's folder.
 * @returns What the result depends on, and what was written, relative to the root.
 */
export async function buildParser(root) {
  const { build } = await import("esbuild");
  const fromTsMorph = createRequire(createRequire(import.meta.url).resolve("ts-morph"));
  const original = fromTsMorph.resolve("@ts-morph/common/dist/typescript.js");
  const result = await build({
    entryPoints: [original],
    minify: true,
    charset: "ascii",
    target: "node20.19",
    legalComments: "inline",
    write: false,
    logLevel: "silent",
  });
  const text = `(function (exports, require, module, __filename, __dirname) {${result.outputFiles[0].text}\n})`;
  const samples = await sampleFiles(root);
  const folder = join(root, "dist/parser");
  await mkdir(folder, { recursive: true });
  await replaceFile(join(folder, "typescript.js"), text);
  await replaceFile(join(folder, "typescript.cache"), await codeCache(text, original, root, samples));
  return {
    inputs: ["scripts/parser.mjs", "compiler/analyze/syntax/ts.ts", ...samples],
    outputs: ["dist/parser/typescript.js", "dist/parser/typescript.cache"],
  };
}

/** The cache is taken after some parsing, so that it holds the functions that parsing needs. */
async function codeCache(text, original, root, samples) {
  const script = new Script(text, { filename: "typescript.js" });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(original), module, original, "");
  const ts = module.exports;
  const options = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  for (const file of samples) {
    const source = ts.createSourceFile(file, await readFile(join(root, file), "utf8"), options, false);
    const visit = (node) => ts.forEachChild(node, visit);
    visit(source);
    source.getLineAndCharacterOfPosition(source.end);
  }
  return script.createCachedData();
}

/** In one step, so that a running process never sees half of it. */
async function replaceFile(file, contents) {
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, contents);
  await rename(temporary, file);
}

async function sampleFiles(root) {
  const folder = "compiler/analyze";
  const found = await readdir(join(root, folder), { recursive: true });
  return found
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file}`)
    .sort();
}
