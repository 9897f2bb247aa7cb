import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Diagnostic, diagnostic } from "../../compiler/diagnostics/diagnostic.js";
import { renderGithub, renderJson, renderPretty } from "../../compiler/diagnostics/render.js";

const source = `import { defineHook } from "@cursor/bdk/hooks";

export default defineHook({
\tevents: { "turn.complete": () => {} },
});
`;
const wrong = diagnostic("unknownEvent", {
  message: 'there is no event "turn.complete"',
  at: { file: "bot/hooks/audit.ts", line: 4, column: 12, endLine: 4, endColumn: 27 },
  help: "did you mean turn.completed?",
});
const double = diagnostic("duplicateId", {
  message: 'bot/tools/b.ts and bot/tools/a.ts both define the tool "x"',
  at: [
    { span: { file: "bot/tools/a.ts", line: 3, column: 16, endLine: 3, endColumn: 26 }, text: "first defined here" },
    {
      span: { file: "bot/tools/b.ts", line: 12, column: 1, endLine: 14, endColumn: 2 },
      text: "defined again here",
      primary: true,
    },
  ],
  help: "rename one",
  notes: ["a note\nof two lines"],
});
const pretty = (each: Diagnostic, text: string | undefined) =>
  renderPretty([each], { colour: false, read: () => text });

describe("for people", () => {
  it("shows header, place, line, caret and help", () => {
    expect(pretty(wrong, source)).toBe(`error[BDK2008]: there is no event "turn.complete"
 --> bot/hooks/audit.ts:4:12
  |
4 |     events: { "turn.complete": () => {} },
  |               ^^^^^^^^^^^^^^^
  = help: did you mean turn.completed?
`);
  });

  it("shows every file of several labels, the primary one first", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1} of some length that is marked`);
    expect(pretty(double, lines.join("\n"))).toBe(`error[BDK4002]: ${double.message}
  --> bot/tools/b.ts:12:1
   |
12 | line 12 of some length that is marked
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ defined again here
  ::: bot/tools/a.ts:3:16
   |
 3 | line 3 of some length that is marked
   |                ---------- first defined here
   = note: a note
           of two lines
   = help: rename one
`);
  });

  it("does without a frame when there is nothing to show", () => {
    const expected = `error[BDK2008]: there is no event "turn.complete"
 --> bot/hooks/audit.ts:4:12
  = help: did you mean turn.completed?
`;
    expect(pretty(wrong, undefined)).toBe(expected);
    expect(pretty(wrong, "one line")).toBe(expected);
    const whole = diagnostic("badName", { message: "m", at: { file: "bot/tools/a b.ts", line: 1, column: 1 } });
    expect(pretty(whole, source)).toBe("error[BDK1009]: m\n --> bot/tools/a b.ts:1:1\n");
    const gone = () => {
      throw new Error("gone");
    };
    expect(renderPretty([wrong], { colour: false, read: gone })).toBe(expected);
  });

  it("keeps the caret under what it marks, with wide characters before it", () => {
    const text = 'const 名前 = "\u{1F600}e\u0301";';
    const at = { file: "a.ts", line: 1, column: 15, endLine: 1, endColumn: 17 };
    const [, , , line = "", caret = ""] = pretty(diagnostic("syntaxError", { message: "m", at }), text).split("\n");
    expect(line).toBe(`1 | ${text}`);
    // Two columns each for the two ideographs and the face.
    expect(caret.indexOf("^")).toBe("1 | ".length + 'const 名前 = "'.length + 2 + 2);
  });

  it("lets no control character of the source through, and crops what is endless", () => {
    const text = `${"x".repeat(5000)}\u001b[31mred\u202e${"y".repeat(5000)}`;
    const at = { file: "a.js", line: 1, column: 5001, endLine: 1, endColumn: 9000 };
    const shown = pretty(diagnostic("syntaxError", { message: "m", at }), text);
    expect([shown.includes("\u001b"), shown.includes("\u202e")]).toEqual([false, false]);
    for (const line of shown.split("\n")) expect(line.length).toBeLessThan(400);
  });

  it("colours only when asked to", () => {
    const painted = renderPretty([wrong], { colour: true, read: () => source });
    expect(painted).toContain("\u001b[");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes are what is taken off
    expect(painted.replaceAll(/\u001b\[\d+m/g, "")).toBe(pretty(wrong, source));
  });

  it("never throws and always names code and message", () => {
    const place = fc.record({ line: fc.nat(9), column: fc.nat(90), endLine: fc.nat(9), endColumn: fc.nat(90) });
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.array(place, { maxLength: 3 }), (text, places) => {
        const at = places.map((each, index) => ({ span: { file: "a.ts", ...each }, primary: index === 0 }));
        const shown = pretty(diagnostic("syntaxError", { message: "m", at }), text);
        return shown.startsWith("error[BDK2001]: m\n");
      }),
    );
  });
});

describe("for programs", () => {
  it("has one shape, whatever is absent", () => {
    const bare = diagnostic("instructionsMissing", { message: "no instructions" });
    const { diagnostics } = JSON.parse(renderJson([wrong, double, bare]));
    const keys = "code severity message file line column endLine endColumn labels help notes".split(" ");
    for (const each of diagnostics) expect(Object.keys(each)).toEqual(keys);
    expect(diagnostics[0]).toMatchObject({ file: "bot/hooks/audit.ts", line: 4, column: 12, endColumn: 27, notes: [] });
    expect(diagnostics[1]).toMatchObject({ file: "bot/tools/b.ts", line: 12, notes: ["a note\nof two lines"] });
    expect(diagnostics[2]).toMatchObject({ file: null, line: null, help: null, labels: [] });
    expect(renderJson([])).toBe('{\n  "diagnostics": []\n}\n');
  });
});

describe("for GitHub", () => {
  it("writes one command a diagnostic", () => {
    expect(renderGithub([wrong])).toBe(
      '::error file=bot/hooks/audit.ts,line=4,endLine=4,col=12,endColumn=27,title=BDK2008::there is no event "turn.complete"%0Ahelp: did you mean turn.completed?\n',
    );
    const bare = diagnostic("noEvents", { message: "m", severity: "info" });
    expect(renderGithub([bare])).toBe("::notice title=BDK2009::m\n");
  });

  it("escapes what would end the command or start another", () => {
    const message = "100%\r\n::error::boom";
    const shown = renderGithub(
      [diagnostic("syntaxError", { message, at: { file: "a,b:c%.ts", line: 1, column: 1 } })],
      "my/bot/",
    );
    expect(shown).toBe("::error file=my/bot/a%2Cb%3Ac%25.ts,line=1,col=1,title=BDK2001::100%25%0D%0A::error::boom\n");
  });
});
