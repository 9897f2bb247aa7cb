/** What `core.js` exports: the first thing `server.mjs` calls. Puts the linked parts together and boots. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentBundle } from "../manifest/bundle.js";
import { type ProjectFunction, runProject } from "../manifest/project-scope.js";
import type { Manifest } from "../manifest/schema.js";
import { boot } from "./boot.js";
import type { CodeLoader } from "./code-loader.js";
import type { Sections } from "./sections.js";
import { addSourceMap } from "./stack.js";

/** The parts of `server.mjs`. */
export interface LinkedParts {
  /** `import.meta.url` of `server.mjs`. */
  readonly url: string;
  readonly manifest: Manifest;
  readonly files: AgentBundle["files"];
  readonly project: ProjectFunction;
  /** Specifiers of packages beside the bundle that have to be imported before project code runs. */
  readonly imports: readonly string[];
  readonly sections: Sections;
  /** What loaded these parts. */
  readonly code: CodeLoader;
}

/** Boots the bundle. Flags and variables come from the process. */
export function start({ url, manifest, files, project, imports, sections, code }: LinkedParts): Promise<void> {
  const server = fileURLToPath(url);
  const folder = dirname(server);
  addSourceMap({ file: server, map: () => readMap(`${server}.map`) });
  const load = () =>
    runProject(project, {
      locate: (key) => join(folder, "assets", key),
      resolveFrom: () => server,
      imports,
      importModule: code.importModule,
    });
  return boot({ manifest, files, sections, folder, load, code });
}

/** A bundle may be deployed without its map: then stacks name lines of `server.mjs`. */
function readMap(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
