/** Builds the web page: one script, one stylesheet, and the page itself. Served at `/playground` as static files. */
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * @param source `playground/`
 * @param target folder that gets `index.html` and `assets/`
 * @returns esbuild's metafile, to tell what it was made from
 */
export async function buildPlayground(source, target) {
  const result = await build({
    entryPoints: { app: join(source, "src/main.tsx") },
    outdir: join(target, "assets"),
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2023",
    minify: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "silent",
    metafile: true,
  });
  await build({
    entryPoints: { app: join(source, "src/style.css") },
    outdir: join(target, "assets"),
    minify: true,
    logLevel: "silent",
  });
  await mkdir(target, { recursive: true });
  await cp(join(source, "index.html"), join(target, "index.html"));
  return result.metafile;
}
