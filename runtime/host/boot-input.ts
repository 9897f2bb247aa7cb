import type { AgentBundle } from "../manifest/bundle.js";
import type { Manifest } from "../manifest/schema.js";
import type { CodeLoader } from "./code-loader.js";
import type { Sections } from "./sections.js";

/**
 * What `server.mjs` hands to `boot(input)` of `boot.ts`, which the prebuilt `core.js` exports. The manifest is there at
 * once; project code runs only when `load` is called, and its failures reject with source-mapped stacks.
 */
export interface BootInput {
  readonly manifest: Manifest;
  /** Runs the project's code once and gives its definitions by slug, then entry id. */
  readonly load: () => Promise<AgentBundle["definitions"]>;
  readonly files: AgentBundle["files"];
  readonly sections: Sections;
  /** Absolute folder of `server.mjs`; `playground/` and `docs/` stand beside it. */
  readonly folder: string;
  /** Keeps compiled code for the next start; absent where nothing is linked. */
  readonly code?: Pick<CodeLoader, "keepIn" | "flush">;
}
