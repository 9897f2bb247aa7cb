import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..", "..", "..");

/** Bundles a worker of this folder to run in a process of its own; gives the path of the script. */
export async function bundleWorker(name: string): Promise<string> {
  const outfile = join(root, "node_modules", ".cache", "bdk-test", `${name}-${process.pid}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
  return outfile;
}
