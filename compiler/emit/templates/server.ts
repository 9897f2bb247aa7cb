import { createHash } from "node:crypto";
import { projectClosing, projectOpening } from "../../../runtime/manifest/project-scope.js";

/** The parts of a `server.mjs`, in the order they are printed. */
export interface ServerParts {
  /** The small text that runs all others. */
  readonly loader: string;
  readonly core: string;
  readonly sections: readonly { readonly name: string; readonly text: string }[];
  readonly project: string;
  /** JSON texts. */
  readonly manifest: string;
  readonly files: string;
  readonly imports: string;
}

/** A printed `server.mjs`. */
export interface PrintedServer {
  readonly text: string;
  /** Lines before the project's first one: its source map moves by as many. */
  readonly projectLine: number;
}

const wrapperOpening = "(module, exports, require, __bdkUrl) => {";

/** Prints the bundle. Linked texts stand in it as strings: whatever a start does not need is never parsed. */
export function printServer(parts: ServerParts): PrintedServer {
  const printer = createPrinter();
  printer.print(`import { createRequire } from "node:module";
const __bdkUrl = import.meta.url;
const __bdkRequire = createRequire(__bdkUrl);
const __bdkRun = (section) => {
  const module = { exports: {} };
  section(module, module.exports, __bdkRequire, __bdkUrl);
  return module.exports;
};
const __bdkCode = __bdkRun(${wrapperOpening}
${parts.loader}
}).createCodeLoader(__bdkUrl);
const __bdkCore = () => __bdkRun(__bdkCode.load(`);
  printer.link("core", wrapperOpening, parts.core, "\n}");
  printer.print("));\nconst __bdkSections = {\n");
  for (const { name, text } of parts.sections) {
    printer.print(`  ${JSON.stringify(name)}: () => __bdkRun(__bdkCode.load(`);
    printer.link(name, wrapperOpening, text, "\n}");
    printer.print(")),\n");
  }
  printer.print("};\nconst __bdkProject = (scope) => __bdkCode.load(");
  const projectLine = printer.link("project", `(__bdk) => {${projectOpening}`, parts.project, `${projectClosing}}`);
  printer.print(`)(scope);
await __bdkCore().start({
  url: __bdkUrl,
  manifest: JSON.parse(${literal(parts.manifest)}),
  files: JSON.parse(${literal(parts.files)}),
  project: __bdkProject,
  imports: ${parts.imports},
  sections: __bdkSections,
  code: __bdkCode,
});
//# source${"MappingURL"}=server.mjs.map
`);
  return { text: printer.text(), projectLine };
}

function createPrinter() {
  const chunks: string[] = [];
  let line = 0;
  const print = (text: string): void => {
    chunks.push(text);
    line += countLines(text);
  };
  return {
    print,
    /** Prints a `LinkedText`, whose text keeps its lines, and gives the number of lines before its body. */
    link(name: string, opening: string, body: string, closing: string): number {
      const text = `${opening}\n${body}${closing}`;
      const digest = createHash("sha256").update(text).digest("hex");
      const first = line;
      print(`{ name: ${JSON.stringify(name)}, digest: "${digest}", line: ${first}, text: ${template(text)} }`);
      return first + 1;
    },
    text: () => chunks.join(""),
  };
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** Text as a template literal: its lines stay lines of the file. */
function template(text: string): string {
  return `\`${text.replace(/[\\`]|\$(?=\{)/g, "\\$&").replaceAll("\r", "\\r")}\``;
}

/** JSON text as a string literal: parsed faster than an object literal, and JSON's quotes need no escape in it. */
function literal(json: string): string {
  const escaped = json
    .replaceAll("\\", "\\\\")
    .replaceAll("'", "\\'")
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `'${escaped}'`;
}
