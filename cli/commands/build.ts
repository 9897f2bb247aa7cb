import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { hasErrors } from "../../compiler/diagnostics/diagnostic.js";
import { toJson } from "../../compiler/diagnostics/render.js";
import type { Bundle } from "../../compiler/emit/bundle.js";
import { type WrittenFile, writeBundle } from "../build/write.js";
import { compileProject } from "../compile-project.js";
import { CommandFailure, exit, failure, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { projectFolder } from "../project.js";
import { columns } from "../ui/columns.js";
import { writeDiagnostics } from "../ui/diagnostics.js";
import { shortPath } from "../ui/path.js";
import { formatBytes, formatMs } from "../ui/size.js";
import { writeJson } from "../ui/terminal.js";

export const run: Run<"build"> = async ({ options }, terminal) => {
  const { out } = terminal;
  const started = performance.now();
  const root = projectFolder(options.dir);
  const folder = options.out === undefined ? join(root, "dist") : resolve(options.out);
  checkOutput(root, folder);
  const result = await compileProject(
    root,
    { environment: "build", until: "bundle", include: options.include, types: options.types },
    terminal,
    options.json,
  );
  if (result.bundle === undefined || hasErrors(result.diagnostics)) {
    throw new CommandFailure(exit.failed, result.diagnostics, root);
  }
  const committed = options["manifest-out"] === undefined ? undefined : resolve(options["manifest-out"]);
  if (options.locked) await checkLocked(result.bundle, committed ?? join(root, "manifest.json"));
  const written = await reportingFailure(folder, () => writeBundle(result.bundle as Bundle, folder));
  if (committed !== undefined && !options.locked) {
    await reportingFailure(committed, () => writeManifest(result.bundle as Bundle, committed));
  }
  const ms = performance.now() - started;
  if (options.json) {
    await writeJson(out, {
      ok: true,
      dir: root,
      out: folder,
      hash: result.bundle.manifest.hash,
      files: written,
      env: result.bundle.manifest.env,
      diagnostics: result.diagnostics.map(toJson),
      timings: result.timings,
      ms: Math.round(ms),
    });
    return exit.ok;
  }
  await writeDiagnostics(terminal.err, result.diagnostics, root);
  const { bold, cyan, dim, green } = out.colors;
  const shown = shortPath(folder);
  await out.line(`${green("built")} ${bold(shown)} in ${formatMs(ms)}`);
  for (const line of columns(
    summarize(written).map((file) => [file.path, dim(formatBytes(file.bytes))]),
    { indent: "  " },
  ))
    await out.line(line);
  const { required } = result.bundle.manifest.env;
  if (required.length > 0) await out.line(`  needs at startup: ${bold(required.join(", "))}`);
  await out.line(
    dim(
      `  ${Object.entries(result.timings)
        .map(([phase, took]) => `${phase} ${formatMs(took ?? 0)}`)
        .join(" · ")}`,
    ),
  );
  await out.line(`run it: ${cyan(`node ${join(shown, "server.mjs")}`)}`);
  return exit.ok;
};

/** One row a file of the bundle, one for each static folder. */
function summarize(written: readonly WrittenFile[]): readonly WrittenFile[] {
  const folders = ["docs/", "playground/"].map((path) => {
    const files = written.filter((file) => file.path.startsWith(path));
    return { path, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
  });
  const own = written.filter((file) => !folders.some(({ path }) => file.path.startsWith(path)));
  return [...own, ...folders.filter((folder) => folder.bytes > 0)];
}

/** The output must not become part of the project's source, nor bury it. */
function checkOutput(root: string, folder: string): void {
  const below = relative(root, folder).split(sep);
  if (below[0] !== "" && !["bot", "agent", "evals"].includes(below[0] ?? "")) return;
  throw usageFailure("unwritableOutput", {
    message: `${folder} is the project itself`,
    help: "choose a folder of its own, such as --out dist",
  });
}

async function checkLocked(bundle: Bundle, file: string): Promise<void> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw failure("manifestDiffers", {
      message: `--locked: cannot read ${file}: ${error.message}`,
      help: `commit it with bdk build --manifest-out ${shortPath(file)}`,
    });
  });
  const built = manifestText(bundle);
  if (text === built) return;
  throw failure("manifestDiffers", {
    message: `--locked: the manifest differs from ${shortPath(file)}`,
    help: "look at the change with git diff after bdk build --manifest-out, and commit it if it is meant",
    notes: [firstDifference(text, built)],
  });
}

/** The first line where the two part. */
function firstDifference(committed: string, built: string): string {
  const before = committed.split("\n");
  const after = built.split("\n");
  const position = after.findIndex((line, index) => line !== before[index]);
  const line = position === -1 ? after.length : position;
  return `line ${line + 1}: committed ${JSON.stringify((before[line] ?? "").trim())}, built ${JSON.stringify((after[line] ?? "").trim())}`;
}

async function writeManifest(bundle: Bundle, file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.tmp`, manifestText(bundle));
  await rename(`${file}.tmp`, file);
}

/** The text of `manifest.json`, as the bundle has it. */
function manifestText(bundle: Bundle): string {
  const file = bundle.files.find((each) => each.path === "manifest.json");
  return file === undefined
    ? `${JSON.stringify(bundle.manifest, null, 2)}\n`
    : Buffer.from(file.contents).toString("utf8");
}

async function reportingFailure<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw failure("unwritableOutput", {
      message: `cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`,
      help: "check that it is a folder of yours with space left, or choose another with --out",
    });
  }
}
