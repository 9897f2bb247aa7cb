/**
 * Every folder of `fixtures/traps/` is a project that trips bundlers. Each is built, and either its `server.mjs` answers
 * from an empty folder with the project gone, or the build fails with diagnostics that name the place.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { type Diagnostic, hasErrors, primarySpan } from "../compiler/diagnostics/diagnostic.js";
import { type CompileResult, compile } from "../compiler/index.js";

interface Trap {
  readonly about: string;
  /** `CODE file:line words`, each to be found; every other error or warning fails the trap. */
  readonly diagnostics?: readonly string[];
  /** What the tool `probe` returns in the built server. */
  readonly result?: unknown;
  /** Link → target, both relative to the project. */
  readonly links?: Readonly<Record<string, string>>;
  /** Packages of this repository to stand in the project: names, or place → name. */
  readonly install?: readonly string[] | Readonly<Record<string, string>>;
  /** Packages that must be left outside and copied. */
  readonly externals?: readonly string[];
  /** Input schemas of tools, by name. */
  readonly schemas?: Readonly<Record<string, unknown>>;
}

const repository = fileURLToPath(new URL("..", import.meta.url));
const folder = path.join(repository, "fixtures/traps");
const names = readdirSync(folder).filter((name) => existsSync(path.join(folder, name, "trap.json")));
const workshop = mkdtempSync(path.join(tmpdir(), "bdk-traps-"));
afterAll(() => rmSync(workshop, { recursive: true, force: true }));

describe.each(names)("trap %s", (name) => {
  const trap: Trap = JSON.parse(readFileSync(path.join(folder, name, "trap.json"), "utf8"));

  it(trap.about, async () => {
    const project = path.join(workshop, name, "project");
    layOut(path.join(folder, name), project, trap);
    const result = await compile(project, { cache: false });

    expect(result.diagnostics.filter(({ severity }) => severity !== "info").map(show)).toEqual(
      (trap.diagnostics ?? []).map((wanted) => matching(result.diagnostics, wanted)),
    );
    if (!("result" in trap)) return expect(hasErrors(result.diagnostics)).toBe(true);
    expect(result.manifest?.externals.map((each) => each.name)).toEqual(trap.externals ?? []);
    for (const [tool, schema] of Object.entries(trap.schemas ?? {})) {
      expect(result.manifest?.agents[0]?.tools.find((each) => each.name === tool)?.inputSchema).toEqual(schema);
    }

    const empty = path.join(workshop, name, "deployed");
    write(result, empty);
    renameSync(project, `${project}-gone`);
    expect(await callProbe(empty)).toEqual(trap.result);
  });
});

/** Copies a fixture; `_node_modules` stands for `node_modules`, which git would leave out. */
function layOut(from: string, to: string, { links = {}, install = [] }: Trap): void {
  cpSync(from, to, { recursive: true, filter: (file) => !file.endsWith("trap.json") });
  const rename = (dir: string): void => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const name = entry.name === "_node_modules" ? "node_modules" : entry.name;
      if (name !== entry.name) renameSync(path.join(dir, entry.name), path.join(dir, name));
      rename(path.join(dir, name));
    }
  };
  rename(to);
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(path.dirname(path.join(to, link)), { recursive: true });
    symlinkSync(path.join(to, target), path.join(to, link));
  }
  const packages = Array.isArray(install)
    ? install.map((name) => [`node_modules/${name}`, name])
    : Object.entries(install);
  for (const [place = "", name = ""] of packages) {
    cpSync(path.join(repository, "node_modules", name), path.join(to, place), { recursive: true, dereference: true });
  }
}

/** Writes the bundle into a folder that already holds a stale build. */
function write({ bundle }: CompileResult, out: string): void {
  mkdirSync(out, { recursive: true });
  writeFileSync(path.join(out, "server.mjs"), "throw new Error('stale');\n".repeat(50_000));
  for (const { path: name, contents } of bundle?.files ?? []) {
    mkdirSync(path.dirname(path.join(out, name)), { recursive: true });
    writeFileSync(path.join(out, name), contents);
  }
}

async function callProbe(dir: string): Promise<unknown> {
  const args = ["server.mjs", "--port", "0", "--json", "--mode", "single", "--no-playground", "--no-docs"];
  const server = spawn(process.execPath, args, {
    cwd: dir,
    env: { PATH: process.env.PATH ?? "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  let failed = "";
  server.stderr.setEncoding("utf8").on("data", (text: string) => {
    failed += text;
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      server.stdout.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
        const found = /"url":"([^"]+)"/.exec(printed)?.[1];
        if (found !== undefined) resolve(found);
      });
      server.on("exit", (code) => reject(new Error(`server.mjs ended with ${code}: ${failed}`)));
    });
    const response = await fetch(`${url}/v1/tools/probe`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: {} }),
    });
    const body = (await response.json()) as { readonly isError?: boolean; readonly result?: unknown };
    expect(body, failed).toMatchObject({ isError: false });
    expect(failed).not.toContain("ExperimentalWarning");
    return body.result;
  } finally {
    server.removeAllListeners("exit");
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  }
}

function show(each: Diagnostic): string {
  const span = primarySpan(each);
  return `${each.code} ${span?.file}:${span?.line} ${each.message}`;
}

/** The diagnostic that a wish describes, or the wish itself when there is none: the comparison then shows both. */
function matching(diagnostics: readonly Diagnostic[], wanted: string): string {
  const [code = "", place = "", ...words] = wanted.split(" ");
  const found = diagnostics
    .map(show)
    .find((shown) => shown.startsWith(`${code} ${place} `) && shown.includes(words.join(" ")));
  return found ?? wanted;
}
