import { describe, expect, it } from "vitest";
import { filesBelow, readSource } from "./source-files.js";

const folders = ["runtime", "compiler", "cli", "test", "playground"];
const files = folders.flatMap((folder) => [".ts", ".tsx", ".mjs"].flatMap((ending) => filesBelow(folder, ending)));
const scripts = filesBelow("scripts", ".mjs");

/** Files over the limit, each with the reason it is still one file. */
const longFiles: Readonly<Record<string, string>> = {};

describe("the rules of the house", () => {
  it("keeps a file in one head: at most 400 lines", () => {
    const long = [...files, ...scripts]
      .map((file) => ({ file, lines: readSource(file).split("\n").length }))
      .filter(({ file, lines }) => lines > 400 && !(file in longFiles));
    expect(long).toEqual([]);
  });

  it("names files in kebab case, and none after nothing", () => {
    const wrong = [...files, ...scripts].filter((file) => {
      const name = file.split("/").at(-1) ?? "";
      return (
        !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|spec|d|config|bench))*\.(ts|tsx|mjs|mts)$/.test(name) ||
        /^(utils?|helpers?|manager|impl|misc|common)\./.test(name)
      );
    });
    expect(wrong).toEqual([]);
  });

  it("leaves nothing undone or switched off", () => {
    const marks = /\b(TODO|FIXME|XXX|HACK)\b|@ts-(ignore|nocheck)|\b(it|test|describe)\.(skip|only|todo|fails)\b/;
    const wrong = [...files, ...scripts]
      .filter((file) => !file.startsWith("test/guards/"))
      .flatMap((file) =>
        readSource(file)
          .split("\n")
          .flatMap((text, i) => (marks.test(text) ? [`${file}:${i + 1} ${text.trim()}`] : [])),
      );
    expect(wrong).toEqual([]);
  });

  it("swallows no error", () => {
    // A promise whose failure is told elsewhere may be silenced, with `() => undefined` and a word on why.
    const empty = /catch\s*(\([^)]*\))?\s*\{\s*\}|\.catch\(\s*\(\s*\)\s*=>\s*\{\s*\}\s*\)/;
    const wrong = files.filter((file) => /^(runtime|compiler|cli)\//.test(file) && empty.test(readSource(file)));
    expect(wrong).toEqual([]);
  });
});
