import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { filesBelow, packageRoot, readSource } from "./source-files.js";

interface PackageJson {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly sideEffects: boolean;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}
const packageJson: PackageJson = JSON.parse(readSource("package.json"));

/** Files of authoring that are not subpaths: parts of the root, types that others build on, what generated code calls. */
const inner = ["agent", "instructions", "host", "schema", "plugin-server"];
/** Subpaths whose code is in the CLI. */
const programmatic = ["./serve", "./build"];

const authored = filesBelow("runtime/authoring", ".ts")
  .map((file) => file.slice("runtime/authoring/".length, -".ts".length))
  .filter((name) => !inner.includes(name));
const subpathOf = (name: string) => (name === "index" ? "." : `./${name}`);
const exported = Object.keys(packageJson.exports).filter((key) => key !== "./package.json");

describe("exports", () => {
  it("has one file of authoring for each subpath", () => {
    expect(exported.filter((key) => !programmatic.includes(key)).sort()).toEqual(authored.map(subpathOf).sort());
    for (const key of programmatic) expect(exported).toContain(key);
  });

  it("points each subpath at its own built file and types", () => {
    for (const name of authored) {
      expect(packageJson.exports[subpathOf(name)]).toEqual({
        types: `./dist/types/runtime/authoring/${name}.d.ts`,
        default: `./dist/authoring/${name}.js`,
      });
    }
  });

  it("is described: every subpath is named in docs/reference", () => {
    const reference = filesBelow("docs/reference", ".md").map(readSource).join("\n");
    const missing = exported.filter((key) => !reference.includes(`@cursor/bdk${key.slice(1)}`));
    expect(missing).toEqual([]);
  });

  it("has no side effects: bundling a subpath bare gives nothing", async () => {
    expect(packageJson.sideEffects).toBe(false);
    for (const name of authored) {
      const file = join(packageRoot, `runtime/authoring/${name}.ts`);
      const result = await build({
        stdin: { contents: `import ${JSON.stringify(file)};`, resolveDir: packageRoot },
        bundle: true,
        format: "esm",
        write: false,
        logLevel: "silent",
        // The flag in package.json would let esbuild drop the file unread; here its code has to stand the test itself.
        plugins: [
          {
            name: "ignore-the-flag",
            setup: (build) =>
              build.onResolve({ filter: /.*/ }, (args) => {
                const path = args.path.startsWith("/")
                  ? args.path
                  : join(args.resolveDir, args.path.replace(/\.js$/, ".ts"));
                return { path, sideEffects: true };
              }),
          },
        ],
      });
      const code = result.outputFiles.map((each) => each.text.replace(/^\/\/.*$/gm, "").trim()).join("");
      expect({ name, code }).toEqual({ name, code: "" });
    }
  });
});

describe("types", () => {
  it("reach a project as they are published, and are whole", { timeout: 300_000 }, async () => {
    const { buildAll } = await import("../../scripts/build.mjs");
    expect(await buildAll({ names: ["types"] })).toBe(0);
    const folder = join(packageRoot, "node_modules/.cache/bdk-types-check");
    await mkdir(folder, { recursive: true });
    try {
      const paths = Object.fromEntries(
        Object.entries(packageJson.exports).flatMap(([key, target]) =>
          typeof target === "string" ? [] : [[`@cursor/bdk${key.slice(1)}`, [join(packageRoot, target.types)]]],
        ),
      );
      const project = join(packageRoot, "fixtures/projects/pr-approver");
      const tsconfig = {
        extends: join(project, "tsconfig.json"),
        compilerOptions: {
          paths,
          skipLibCheck: false,
          noEmit: true,
          types: ["node"],
          typeRoots: [join(packageRoot, "node_modules/@types")],
        },
        include: [join(project, "bot/**/*.ts"), join(project, "evals/**/*.ts"), "programs.ts"],
      };
      const programs = Object.keys(paths).map(
        (name, i) => `import * as m${i} from ${JSON.stringify(name)};\nexport { m${i} };`,
      );
      await writeFile(join(folder, "programs.ts"), `${programs.join("\n")}\n`);
      await writeFile(join(folder, "tsconfig.json"), JSON.stringify(tsconfig));
      const tsc = join(packageRoot, "node_modules/typescript/bin/tsc");
      const output = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).then(
        () => "",
        (error: { stdout: string }) => error.stdout,
      );
      // Problems inside packages that ours depends on are theirs.
      const own = output
        .split("\n")
        .filter((line) => line !== "" && !line.includes("node_modules/") && !line.startsWith(" "));
      expect(own).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("dependencies", () => {
  it("imports only packages that are listed", async () => {
    const { importsOf } = await import("./source-files.js");
    const optionalPeers = ["@cursor/sdk", "typescript"];
    const listed = [...Object.keys(packageJson.dependencies), ...optionalPeers, "@cursor/bdk"];
    const files = ["runtime", "compiler", "cli"].flatMap((folder) => filesBelow(folder, ".ts"));
    const wrong = files
      .filter((file) => !file.endsWith(".test.ts"))
      .flatMap(importsOf)
      .filter((each) => !each.typeOnly && each.target === undefined && !each.specifier.startsWith("node:"))
      .filter((each) => !listed.some((name) => each.specifier === name || each.specifier.startsWith(`${name}/`)));
    expect(wrong.map((each) => `${each.from}: ${each.specifier}`)).toEqual([]);
  });

  it("installs nothing that runs a script, but for esbuild", () => {
    const lock: { packages: Record<string, { hasInstallScript?: boolean; dev?: boolean; optional?: boolean }> } =
      JSON.parse(readSource("package-lock.json"));
    const scripts = Object.entries(lock.packages)
      .filter(([, each]) => each.hasInstallScript && !each.dev && !each.optional)
      .map(([path]) => path);
    expect(scripts.map((path) => path.slice(path.lastIndexOf("node_modules/") + 13)).sort()).toEqual(["esbuild"]);
  });

  it("locks every package that another one names, so that npm ci works on a clean clone", () => {
    interface Locked {
      readonly dependencies?: Readonly<Record<string, string>>;
      readonly optionalDependencies?: Readonly<Record<string, string>>;
    }
    const { packages }: { packages: Record<string, Locked> } = JSON.parse(readSource("package-lock.json"));
    const locked = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf("node_modules/") + 13)));
    const missing = Object.entries(packages).flatMap(([path, each]) =>
      Object.keys({ ...each.dependencies, ...each.optionalDependencies })
        .filter((name) => !locked.has(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it("publishes folders that exist once it is built", () => {
    for (const each of packageJson.files.filter((name) => name !== "dist")) {
      expect(existsSync(join(packageRoot, each)), each).toBe(true);
    }
  });
});
