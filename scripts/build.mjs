#!/usr/bin/env node
/**
 * Builds `dist/`: the CLI, the authoring subpaths with their types, the prebuilt runtime and its optional sections, the
 * evaluation child and the docs. A part is skipped when its inputs have not changed since it was last written.
 *
 *   node scripts/build.mjs [--clean] [--force] [part …]
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { lazyCrypto, leanFastify } from "./lean.mjs";
import { leanPrices } from "./prices.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const stamps = join(dist, ".stamps");

const esmOptions = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  charset: "utf8",
  legalComments: "none",
  logLevel: "silent",
  absWorkingDir: root,
  metafile: true,
  write: false,
};

/** Text to be wrapped in a function that gets `module`, `exports` and `require`: no import left, node builtins by require. */
const wrappedOptions = {
  ...esmOptions,
  format: "cjs",
  charset: "ascii",
  minify: true,
  keepNames: false,
  define: { "process.env.NODE_ENV": '"production"', "import.meta.url": "__bdkUrl" },
  plugins: [leanFastify, lazyCrypto],
};

/** zod exports the translations of its messages as one namespace, which a linker can't take apart; ours are English. */
const englishOnly = {
  name: "english-only",
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
      resolveDir: join(root, "node_modules/zod/v4/locales"),
    }));
  },
};

/** Front matter is read in every run, and the package by itself is seventy files to load. */
const yamlInside = {
  name: "yaml-inside",
  setup(build) {
    build.onResolve({ filter: /^yaml$/ }, () => ({ path: join(root, "node_modules/yaml/browser/dist/index.js") }));
  },
};

/** Optional parts of the runtime (`runtime/host/sections.ts`), and where their source is. */
const sections = {
  "model-xai": "runtime/harness/models/xai.ts",
  "model-openai": "runtime/harness/models/openai.ts",
  "model-anthropic": "runtime/harness/models/anthropic.ts",
  "model-openai-compatible": "runtime/harness/models/openai-compatible.ts",
  prices: "runtime/harness/models/prices.ts",
  "json-schema": "runtime/tools/json-schema.ts",
  workspace: "runtime/workspace/tools/index.ts",
  channels: "runtime/channels/index.ts",
  github: "runtime/channels/github/index.ts",
  slack: "runtime/channels/slack/index.ts",
  webhook: "runtime/channels/webhook/index.ts",
  oidc: "runtime/auth/oidc/index.ts",
  "rate-limit": "runtime/http/rate-limit/index.ts",
  schedules: "runtime/schedules/index.ts",
  connections: "runtime/connections/index.ts",
  reminders: "runtime/reminders/index.ts",
};

/** name → what it makes from what. `entries` that do not exist are left out; a part without entries is skipped. */
const parts = {
  cli: { entries: ["cli/bdk.ts", "cli/dev/child.ts", "cli/api/serve.ts", "cli/api/build.ts"], build: buildCli },
  authoring: { entries: await list("runtime/authoring", ".ts"), build: buildAuthoring },
  evaluate: { entries: ["compiler/evaluate/child.ts"], build: buildEvaluate },
  core: { entries: ["runtime/host/start.ts"], build: (entries) => buildWrapped("core", entries) },
  "agent-tool": {
    entries: ["runtime/workspace/script/start.ts"],
    build: (entries) => buildWrapped("agent-tool", entries),
  },
  loader: { entries: ["runtime/host/code-loader.ts"], build: (entries) => buildWrapped("loader", entries) },
  ...Object.fromEntries(
    Object.entries(sections).map(([name, file]) => [
      name,
      { entries: [file], build: (entries) => buildWrapped(name, entries) },
    ]),
  ),
  types: {
    entries: [...(await list("runtime/authoring", ".ts")), "cli/api/serve.ts", "cli/api/build.ts"],
    build: buildTypes,
  },
  parser: { entries: ["scripts/parser.mjs"], build: buildParserPart },
  docs: { entries: [...(await list("docs", "")), "scripts/docs.mjs"], build: buildDocsSite },
  playground: {
    entries: [...(await list("playground", "")), "scripts/playground.mjs"],
    build: buildPlaygroundPage,
  },
};

async function buildCli(entries) {
  const { build } = await import("esbuild");
  const result = await build({
    ...esmOptions,
    entryPoints: entries,
    outbase: "cli",
    outdir: "dist/cli",
    packages: "external",
    plugins: [leanPrices, yamlInside],
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
  });
  return write(result);
}

async function buildAuthoring(entries) {
  const { build } = await import("esbuild");
  const result = await build({
    ...esmOptions,
    entryPoints: entries,
    outbase: "runtime/authoring",
    outdir: "dist/authoring",
    splitting: true,
    chunkNames: "shared/[name]-[hash]",
  });
  return write(result);
}

async function buildEvaluate(entries) {
  const { build } = await import("esbuild");
  const result = await build({
    ...esmOptions,
    entryPoints: entries,
    outdir: "dist/evaluate",
    splitting: true,
    chunkNames: "[name]-[hash]",
    minifySyntax: true,
    minifyWhitespace: true,
    banner: {
      js: 'import { createRequire as __bdkRequire } from "node:module"; const require = __bdkRequire(import.meta.url);',
    },
  });
  return write(result);
}

async function buildWrapped(name, entries) {
  const { build } = await import("esbuild");
  const result = await build({
    ...wrappedOptions,
    entryPoints: entries,
    outfile: `dist/runtime/${name}.js`,
    plugins: [...wrappedOptions.plugins, leanPrices, englishOnly],
  });
  return write(result);
}

async function buildTypes() {
  const typescript = join(root, "node_modules/typescript/bin/tsc");
  await promisify(execFile)(process.execPath, [typescript, "-p", "tsconfig.build.json"], { cwd: root }).catch(
    (error) => {
      throw new Error(error.stdout || error.message);
    },
  );
  return {
    inputs: [...(await list("runtime", ".ts")), ...(await list("compiler", ".ts")), ...(await list("cli", ".ts"))],
  };
}

async function buildParserPart() {
  const { buildParser } = await import("./parser.mjs");
  return buildParser(root);
}

async function buildDocsSite(entries) {
  const { buildDocs } = await import("./docs.mjs");
  const written = await buildDocs(join(root, "docs"), join(dist, "docs"));
  return { inputs: entries, outputs: written.map((file) => `dist/docs/${file}`) };
}

async function buildPlaygroundPage(entries) {
  const { buildPlayground } = await import("./playground.mjs");
  await buildPlayground(join(root, "playground"), join(dist, "playground"));
  return { inputs: entries, outputs: ["dist/playground/index.html", "dist/playground/assets/app.js"] };
}

/** Writes esbuild's output files, each in one step so that a running process never sees half of one. */
async function write(result) {
  for (const file of result.outputFiles) {
    await mkdir(dirname(file.path), { recursive: true });
    const temporary = `${file.path}.${process.pid}.tmp`;
    await writeFile(temporary, file.contents);
    await rename(temporary, file.path);
  }
  const outputs = result.outputFiles.map((file) => relative(root, file.path));
  const isSource = (file) => !file.includes("node_modules/") && !file.includes(":");
  return { inputs: Object.keys(result.metafile.inputs).filter(isSource), outputs };
}

/** Files below a folder with an ending, relative to the package root, sorted; empty when the folder is missing. */
async function list(folder, ending) {
  const found = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return found
    .filter((each) => each.isFile() && each.name.endsWith(ending) && !each.name.endsWith(".test.ts"))
    .map((each) => relative(root, join(each.parentPath, each.name)).split(sep).join("/"))
    .sort();
}

const exists = (file) =>
  stat(join(root, file)).then(
    () => true,
    () => false,
  );

/** What a part's result depends on: its inputs, the installed packages, and this script. */
async function fingerprint(entries, inputs) {
  const hash = createHash("sha256");
  for (const file of [
    "scripts/build.mjs",
    "scripts/lean.mjs",
    "scripts/prices.mjs",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    ...inputs,
  ]) {
    const bytes = await readFile(join(root, file)).catch(() => "");
    hash.update(`${file}\0`).update(bytes).update("\0");
  }
  return hash.update(entries.join("\0")).digest("hex");
}

/** Whether one of the files was written at that time or later (ms since the epoch). */
async function changedSince(time, inputs) {
  const times = await Promise.all(inputs.map(async (file) => (await stat(join(root, file))).mtimeMs));
  return times.some((each) => each >= time);
}

async function buildPart(name, { entries: wanted, build }, force) {
  const entries = [];
  for (const entry of wanted) if (await exists(entry)) entries.push(entry);
  if (entries.length === 0) return;
  const stampFile = join(stamps, `${name}.json`);
  const stamp = await readFile(stampFile, "utf8").then(JSON.parse, () => undefined);
  if (!force && stamp !== undefined && stamp.print === (await fingerprint(entries, stamp.inputs))) {
    const present = await Promise.all((stamp.outputs ?? []).map(exists));
    if (present.every(Boolean)) return;
  }
  const started = Date.now();
  const { inputs, outputs } = await build(entries);
  await mkdir(stamps, { recursive: true });
  // A file that changed meanwhile may have been read before it did: the next run builds again.
  if (await changedSince(started, inputs)) await rm(stampFile, { force: true });
  else await writeFile(stampFile, JSON.stringify({ inputs, outputs, print: await fingerprint(entries, inputs) }));
  console.log(`built ${name} in ${Date.now() - started} ms`);
}

/**
 * Builds the parts named, or all of them. Gives the number of parts that failed, each reported on stderr.
 */
export async function buildAll({ names = [], force = false, clean = false } = {}) {
  if (clean) await rm(dist, { recursive: true, force: true });
  const wanted = Object.entries(parts).filter(([name]) => names.length === 0 || names.includes(name));
  const results = await Promise.allSettled(wanted.map(([name, part]) => buildPart(name, part, force)));
  let failures = 0;
  for (const [index, result] of results.entries()) {
    if (result.status === "fulfilled") continue;
    failures += 1;
    console.error(`build of ${wanted[index]?.[0]} failed: ${result.reason.message}`);
  }
  return failures;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const args = process.argv.slice(2);
  const names = args.filter((each) => !each.startsWith("--"));
  process.exitCode =
    (await buildAll({ names, force: args.includes("--force"), clean: args.includes("--clean") })) > 0 ? 1 : 0;
}
