import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { compareBytes } from "../../compiler/bytes.js";
import { diskSource, memorySource, type ProjectSource, SourceError, workspaceOf } from "../../compiler/source.js";

const workshop = realpathSync(mkdtempSync(path.join(tmpdir(), "bdk-source-")));
afterAll(() => rmSync(workshop, { recursive: true, force: true }));

function tempFolder(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(path.join(workshop, "project-"));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  return root;
}

const files = { "b.txt": "b", "a/z.txt": "z", "a/\u{1F600}.txt": "face", "a/\uFF21.txt": "wide", "a/Z.txt": "Z" };

describe.each<readonly [string, () => ProjectSource]>([
  ["disk", () => diskSource(tempFolder(files))],
  ["memory", () => memorySource(files)],
])("a project on %s", (_, open) => {
  const source = open();

  it("lists names in byte order", () => {
    expect(source.list("")).toEqual([
      { name: "a", type: "folder" },
      { name: "b.txt", type: "file" },
    ]);
    expect(source.list("a").map(({ name }) => name)).toEqual(["Z.txt", "z.txt", "\uFF21.txt", "\u{1F600}.txt"]);
    expect(source.list("nowhere")).toEqual([]);
    expect(source.list("b.txt")).toEqual([]);
  });

  it("reads text and bytes", () => {
    expect(source.readText("a/z.txt")).toBe("z");
    expect([...source.readBytes("a/z.txt")]).toEqual([122]);
    expect(source.realpath("a/z.txt")).toBe(path.join(source.root, "a/z.txt"));
  });

  it("says what is there", () => {
    expect([source.typeOf("a"), source.typeOf("b.txt"), source.typeOf("c")]).toEqual(["folder", "file", undefined]);
    expect([source.exists("a"), source.exists("c")]).toEqual([true, false]);
  });

  it("tells which file can't be read", () => {
    const read = () => source.readText("a/gone.txt");
    expect(read).toThrow(SourceError);
    expect(read).toThrow("there is no such file");
  });
});

describe("containment", () => {
  const workspace = tempFolder({ "secret.txt": "no", "shared/x.ts": "x", "project/bot/a.txt": "a" });
  const project = path.join(workspace, "project");
  symlinkSync("../../secret.txt", path.join(project, "bot/link.txt"));
  symlinkSync("../../shared", path.join(project, "bot/shared"));
  symlinkSync("./a.txt", path.join(project, "bot/inside.txt"));
  symlinkSync("./gone.txt", path.join(project, "bot/broken.txt"));
  symlinkSync(".", path.join(project, "bot/self"));
  symlinkSync("..", path.join(project, "bot/up"));

  it("follows links inside, and none that lead out, nowhere, or around", () => {
    const types = Object.fromEntries(
      diskSource(project)
        .list("bot")
        .map(({ name, type }) => [name, type]),
    );
    expect(types).toEqual({
      "a.txt": "file",
      "inside.txt": "file",
      "broken.txt": "broken",
      "link.txt": "outside",
      shared: "outside",
      self: "broken",
      up: "broken",
    });
  });

  it("refuses to read past the boundary, whatever the path", () => {
    const source = diskSource(project);
    for (const file of ["bot/link.txt", "../secret.txt", "bot/../../secret.txt", "bot/shared/x.ts"]) {
      expect(() => source.readText(file)).toThrow(SourceError);
      expect(source.exists(file)).toBe(false);
    }
    expect(source.readText("bot/inside.txt")).toBe("a");
  });

  it("can be widened to the workspace", () => {
    expect(workspaceOf(project)).toBe(project);
    writeFileSync(path.join(workspace, "package.json"), '{ "workspaces": ["project"] }');
    expect(workspaceOf(project)).toBe(workspace);
    const source = diskSource(project, workspaceOf(project));
    expect(source.readText("bot/shared/x.ts")).toBe("x");
    expect(source.readText("../shared/x.ts")).toBe("x");
  });

  it("has nothing to say of a folder that is not there", () => {
    const source = diskSource(path.join(workspace, "gone"));
    expect(source.list("")).toEqual([]);
    expect(() => source.readText("x")).toThrow(SourceError);
  });
});

describe("byte order", () => {
  it("is the order of the UTF-8 bytes", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, text, (a, b) => {
        return Math.sign(compareBytes(a, b)) === Buffer.compare(Buffer.from(a), Buffer.from(b));
      }),
    );
  });
});
