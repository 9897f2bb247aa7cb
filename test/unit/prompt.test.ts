import { prompt } from "@cursor/bdk/prompt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

/** Calls a tag with text as it stands between the backticks. */
function template(...texts: string[]): TemplateStringsArray {
  return Object.assign([...texts], { raw: texts });
}
const tag = (text: string) => prompt(template(text));

describe("prompt", () => {
  it("drops the newline after the backtick and the shared indent, and keeps the final newline", () => {
    expect(prompt`
      First line.
        Deeper.

      Last line.
    `).toBe("First line.\n  Deeper.\n\nLast line.\n");
  });

  it("leaves text on the opening line alone", () => {
    expect(prompt`one line`).toBe("one line");
    expect(prompt`first
      second`).toBe("first\n      second");
  });

  it("drops one newline only", () => {
    expect(tag("\n\n  a\n")).toBe("\na\n");
  });

  it("doesn't count blank lines for the indent", () => {
    expect(tag("\n    a\n\n  \n    b\n")).toBe("a\n\n\nb\n");
  });

  it("dedents after inserting values", () => {
    const list = ["- a", "- b"].join("\n      ");
    expect(prompt`
      Services:
      ${list}
    `).toBe("Services:\n- a\n- b\n");
    expect(prompt`
      Services:
      ${"- a\n- b"}
    `).toBe("      Services:\n      - a\n- b\n");
  });

  it("inserts values as a plain template does", () => {
    expect(prompt`${1} ${null} ${undefined} ${true}`).toBe("1 null undefined true");
  });

  it("reads escapes, and takes invalid ones as written", () => {
    expect(prompt`\n  a\n  b`).toBe("a\nb");
    expect(prompt(Object.assign(["\\unicode"], { raw: ["\\unicode"] }))).toBe("\\unicode");
    expect(prompt`\u{zz} and \xq`).toBe("\\u{zz} and \\xq");
  });

  it("treats tabs and spaces as different", () => {
    expect(tag("\n\ta\n\t\tb\n")).toBe("a\n\tb\n");
    expect(tag("\n\ta\n  b\n")).toBe("\ta\n  b\n");
    expect(tag("\n \ta\n  b\n")).toBe("\ta\n b\n");
  });

  it("handles nothing at all", () => {
    expect(prompt``).toBe("");
    expect(prompt.lines``).toEqual([]);
    expect(
      prompt.lines(
        template(`
    `),
      ),
    ).toEqual([]);
  });
});

describe("prompt.lines", () => {
  it("gives one entry a line, without a final empty one", () => {
    const url = "https://x.test/1";
    expect(prompt.lines`
      Merged PR detected: ${url}.

      Call plan_deploy.
    `).toEqual(["Merged PR detected: https://x.test/1.", "", "Call plan_deploy."]);
  });

  it("drops one final empty line only", () => {
    expect(prompt.lines(template("\n  a\n\n"))).toEqual(["a", ""]);
  });
});

describe("properties", () => {
  const word = fc.stringMatching(/^[a-z#*-][a-z .:]{0,12}[a-z]$/);
  const indented = fc.record({ depth: fc.nat(4), text: word });
  const lines = fc.array(fc.oneof(indented, fc.constant(undefined)), { minLength: 1, maxLength: 12 });
  const render = (each: { depth: number; text: string } | undefined) =>
    each === undefined ? "" : `${"  ".repeat(each.depth)}${each.text}`;

  it("removes exactly the shared indent", () => {
    fc.assert(
      fc.property(lines, fc.nat(8), (body, indent) => {
        const depths = body.flatMap((each) => (each === undefined ? [] : [each.depth]));
        const least = depths.length === 0 ? 0 : Math.min(...depths);
        const pad = " ".repeat(indent);
        const source = `\n${body.map((each) => (each === undefined ? "" : pad + render(each))).join("\n")}\n${pad}`;
        const expected = `${body.map((each) => render(each).slice(least * 2)).join("\n")}\n`;
        expect(tag(source)).toBe(expected);
      }),
    );
  });

  it("is idempotent once the opening newline is gone", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 8 }), (parts) => {
        const once = tag(`x\n${parts.join("\n")}`);
        expect(tag(once)).toBe(once);
      }),
    );
  });

  it("keeps the number of lines and what they say", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string().filter((text) => !/[\r\n]/.test(text)),
          { minLength: 1 },
        ),
        (body) => {
          const out = tag(`\n${body.join("\n")}`).split("\n");
          expect(out.map((line) => line.trim())).toEqual(body.map((line) => line.trim()));
        },
      ),
    );
  });

  it("gives the same text by lines", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(" ", "\n", "a", "\t", "b") }), (text) => {
        const whole = tag(text);
        const byLine = prompt.lines(template(text)).join("\n");
        expect([byLine, `${byLine}\n`]).toContain(whole);
      }),
    );
  });

  it("inserts single-line values without disturbing the indent", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 6 }), fc.nat(6), (pairs, indent) => {
        const pad = " ".repeat(indent);
        const texts = pairs.map(([label], i) => `${i === 0 ? "\n" : ""}${i === 0 ? "" : "\n"}${pad}${label}: `);
        const out = prompt(template(...texts, ""), ...pairs.map(([, value]) => value));
        expect(out).toBe(pairs.map(([label, value]) => `${label}: ${value}`).join("\n"));
      }),
    );
  });
});
