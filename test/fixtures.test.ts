/**
 * The one runner of `fixtures/cases/`. A case is a folder: `input/` is a project, `case.json` says how far to compile
 * it, `expected.json` is what comes out. `UPDATE=1` writes the goldens anew; adding a case needs no code.
 */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { analyze } from "../compiler/analyze/analyze.js";
import type { AgentDefinitions } from "../compiler/analyze/definition.js";
import { type Diagnostic, hasErrors, type Span } from "../compiler/diagnostics/diagnostic.js";
import type { CompileOptions } from "../compiler/index.js";
import { moduleResolver } from "../compiler/link/resolve-modules.js";
import { mount } from "../compiler/mount/mount.js";
import { resolve } from "../compiler/resolve/resolve.js";
import type { Surface } from "../compiler/resolve/surface.js";
import { titleOf } from "../compiler/scan/package-json.js";
import { scan } from "../compiler/scan/scan.js";
import { diskSource } from "../compiler/source.js";

interface Case {
  /** What the case shows, in a sentence. */
  readonly about: string;
  /** `surface` (default) runs the three phases that read; the others compile, evaluation included. */
  readonly until?: "surface" | NonNullable<CompileOptions["until"]>;
  /** Folder below `input/` to compile; default: that itself. */
  readonly dir?: string;
  /** Packages of `fixtures/extensions/` to stand in the project: place → folder. */
  readonly packages?: Readonly<Record<string, string>>;
  /** Further options of `compile`. */
  readonly options?: Omit<CompileOptions, "until" | "cache">;
}

const folder = fileURLToPath(new URL("../fixtures/cases", import.meta.url));
const extensions = fileURLToPath(new URL("../fixtures/extensions", import.meta.url));
const names = readdirSync(folder).filter((name) => existsSync(path.join(folder, name, "case.json")));

describe.each(names)("%s", (name) => {
  const dir = path.join(folder, name);
  const testCase: Case = JSON.parse(readFileSync(path.join(dir, "case.json"), "utf8"));
  it(testCase.about, async () => {
    const golden = path.join(dir, "expected.json");
    const project = layOut(path.join(dir, "input"), testCase);
    const actual = `${JSON.stringify(await run(path.join(project, testCase.dir ?? ""), testCase), null, 2)}\n`;
    if (process.env.UPDATE === "1") writeFileSync(golden, actual);
    expect(actual).toBe(readFileSync(golden, "utf8"));
  });
});

/** The project where it stands; with packages, a copy of it that has them. */
function layOut(input: string, { packages }: Case): string {
  if (packages === undefined) return input;
  const project = path.join(realpathSync(mkdtempSync(path.join(tmpdir(), "bdk-case-"))), "project");
  onTestFinished(() => rmSync(path.dirname(project), { recursive: true, force: true }));
  cpSync(input, project, { recursive: true });
  for (const [place, name] of Object.entries(packages)) {
    cpSync(path.join(extensions, name), path.join(project, place), { recursive: true });
  }
  return project;
}

async function run(project: string, { until = "surface", options }: Case): Promise<unknown> {
  if (until === "surface") {
    const source = diskSource(project);
    const scanned = scan(source);
    const tree = await mount(scanned.value, source, moduleResolver(project));
    const definitions = await analyze(tree.value, source);
    const surface = resolve(tree.value, definitions.value);
    return {
      diagnostics: [scanned, tree, definitions, surface].flatMap(({ diagnostics }) => diagnostics.map(showDiagnostic)),
      agents: surface.value.map((each) => showSurface(each, definitions.value)),
    };
  }
  const { compile } = await import("../compiler/index.js");
  const { diagnostics, manifest } = await compile(project, { ...options, until, cache: false });
  return { diagnostics: diagnostics.map(showDiagnostic), ...(hasErrors(diagnostics) ? {} : { manifest }) };
}

function showDiagnostic({ code, severity, message, labels, help, notes }: Diagnostic): unknown {
  const shown = labels.map(({ span, text, primary }) => [primary ? "primary" : "secondary", showSpan(span), text]);
  return { code, severity, message, labels: shown.map((parts) => parts.filter(Boolean).join(" ")), help, notes };
}

function showSpan({ file, line, column, endLine, endColumn }: Span): string {
  return `${file}:${line}:${column}${endLine === undefined ? "" : `-${endLine}:${endColumn}`}`;
}

function showSurface({ entries, mounts, ...surface }: Surface, agents: readonly AgentDefinitions[]): unknown {
  const agent = agents.find(({ slug }) => slug === surface.slug);
  return {
    ...surface,
    mounts: mounts.map(({ overlays, ...mount }) => ({
      ...mount,
      overlays: overlays.map(({ id, winner, shadowed }) => {
        const files = shadowed.map(({ entry }) => entry.file).join(", ");
        return `${id}: ${winner.entry.file} over ${files}`;
      }),
    })),
    entries: Object.fromEntries(
      entries.map(({ id, winner, shadowed }) => [
        id,
        {
          source: showSpan(winner.span),
          name: winner.name || undefined,
          layer: winner.entry.layer,
          package: winner.entry.package === undefined ? undefined : titleOf(winner.entry.package),
          form: winner.form,
          define: winner.define,
          files: winner.entry.files.length === 0 ? undefined : winner.entry.files,
          fields: Object.keys(winner.fields).length === 0 ? undefined : Object.keys(winner.fields),
          prose: winner.prose,
          env: winner.env.length === 0 ? undefined : winner.env.map((read) => `${read.name} ${showSpan(read.span)}`),
          shadows: shadowed.length === 0 ? undefined : shadowed.map(({ entry }) => `${entry.layer} ${entry.file}`),
        },
      ]),
    ),
    modules: agent?.modules,
  };
}
