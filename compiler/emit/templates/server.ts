import { projectClosing, projectOpening } from "../../../runtime/manifest/project-scope.js";

/** The parts of a `server.mjs`, in the order they are printed. */
export interface ServerParts {
  readonly core: string;
  readonly sections: readonly { readonly name: string; readonly text: string }[];
  readonly project: string;
  /** JSON texts. */
  readonly manifest: string;
  readonly files: string;
  readonly imports: string;
}

/** What stands before the project's text, and what behind it: the map of the whole file needs the lines of the first. */
export function serverTemplate(parts: ServerParts): { readonly before: string; readonly after: string } {
  const sections = parts.sections.map(({ name, text }) => section(name, text)).join("\n");
  return {
    before: `import { createRequire } from "node:module";
const __bdkUrl = import.meta.url;
const __bdkRequire = createRequire(__bdkUrl);
const __bdkRun = (section) => {
  const module = { exports: {} };
  section(module, module.exports, __bdkRequire);
  return module.exports;
};
const __bdkCore = (module, exports, require) => {
${parts.core}
};
const __bdkSections = {
${sections}
};
const __bdkProject = (__bdk) => {${projectOpening}
`,
    after: `${projectClosing}};
await __bdkRun(__bdkCore).start({
  url: __bdkUrl,
  manifest: JSON.parse(${literal(parts.manifest)}),
  files: JSON.parse(${literal(parts.files)}),
  project: __bdkProject,
  imports: ${parts.imports},
  sections: __bdkSections,
});
//# source${"MappingURL"}=server.mjs.map
`,
  };
}

/** Run on first use, once: `() => exports`. */
function section(name: string, text: string): string {
  return `  ${JSON.stringify(name)}: () => __bdkRun((module, exports, require) => {
${text}
  }),`;
}

/** JSON text as a string literal: parsed faster than an object literal, and JSON's quotes need no escape in it. */
function literal(json: string): string {
  const escaped = json
    .replaceAll("\\", "\\\\")
    .replaceAll("'", "\\'")
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `'${escaped}'`;
}
