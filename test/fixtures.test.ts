/**
 * The one runner of `fixtures/cases/`. A case is a folder: `input/` is a project, `case.json` says how far to compile
 * it, `expected.json` is what comes out. `UPDATE=1` writes the goldens anew; adding a case needs no code.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { analyze } from "../compiler/analyze/analyze.js";
import type { AgentDefinitions } from "../compiler/analyze/definition.js";
import { type Diagnostic, hasErrors, type Span } from "../compiler/diagnostics/diagnostic.js";
import type { CompileOptions } from "../compiler/index.js";
import { resolve } from "../compiler/resolve/resolve.js";
import type { Surface } from "../compiler/resolve/surface.js";
import { scan } from "../compiler/scan/scan.js";
import { diskSource } from "../compiler/source.js";

interface Case {
  /** What the case shows, in a sentence. */
  readonly about: string;
  /** `surface` (default) runs the three phases that read; the others compile, evaluation included. */
  readonly until?: "surface" | NonNullable<CompileOptions["until"]>;
  /** Further options of `compile`. */
  readonly options?: Omit<CompileOptions, "until" | "cache">;
}

const folder = fileURLToPath(new URL("../fixtures/cases", import.meta.url));
const names = readdirSync(folder).filter((name) => existsSync(path.join(folder, name, "case.json")));

describe.each(names)("%s", (name) => {
  const dir = path.join(folder, name);
  const testCase: Case = JSON.parse(readFileSync(path.join(dir, "case.json"), "utf8"));
  it(testCase.about, async () => {
    const golden = path.join(dir, "expected.json");
    const actual = `${JSON.stringify(await run(path.join(dir, "input"), testCase), null, 2)}\n`;
    if (process.env.UPDATE === "1") writeFileSync(golden, actual);
    expect(actual).toBe(readFileSync(golden, "utf8"));
  });
});

async function run(project: string, { until = "surface", options }: Case): Promise<unknown> {
  if (until === "surface") {
    const source = diskSource(project);
    const tree = scan(source);
    const definitions = await analyze(tree.value, source);
    const surface = resolve(tree.value, definitions.value);
    return {
      diagnostics: [tree, definitions, surface].flatMap(({ diagnostics }) => diagnostics.map(showDiagnostic)),
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

function showSurface({ entries, ...surface }: Surface, agents: readonly AgentDefinitions[]): unknown {
  const agent = agents.find(({ slug }) => slug === surface.slug);
  return {
    ...surface,
    entries: Object.fromEntries(
      entries.map(({ id, winner, shadowed }) => [
        id,
        {
          source: showSpan(winner.span),
          name: winner.name || undefined,
          layer: winner.entry.layer,
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
