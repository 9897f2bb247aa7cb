/** Markdown as Slack's own markup: what models write, and texts of any length. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitMessage, toMrkdwn, unescapeText } from "../../runtime/channels/slack/mrkdwn.js";

describe("marks", () => {
  test.each([
    ["plain", "plain"],
    ["**bold** and __bold__", "*bold* and *bold*"],
    ["*slanted* and _slanted_", "_slanted_ and _slanted_"],
    ["***both***", "*_both_*"],
    ["**bold with *slanted* inside**", "*bold with _slanted_ inside*"],
    ["~~gone~~", "~gone~"],
    ["`code **not bold** <b>`", "`code **not bold** &lt;b&gt;`"],
    ["``a ` b``", "`a ` b`"],
    ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
    ["# Title", "*Title*"],
    ["### **Title** #", "*Title*"],
    ["- one\n* two\n+ three", "• one\n• two\n• three"],
    ["- [ ] open\n- [x] done", "☐ open\n☑ done"],
    ["  - nested *item*", "• nested _item_"],
    ["1. first\n2. second", "1. first\n2. second"],
    ["> said **loudly**", "> said *loudly*"],
    ["---", "———"],
    ["\\*stars\\* and \\_lines\\_", "*stars* and _lines_"],
  ])("%s", (markdown, mrkdwn) => {
    expect(toMrkdwn(markdown)).toBe(mrkdwn);
  });

  test.each([
    ["[run **7**](https://ci.example/7?a=1&b=2)", "<https://ci.example/7?a=1&amp;b=2|run 7>"],
    ["![graph](https://i.example/g.png)", "<https://i.example/g.png|graph>"],
    ["<https://a.example/x>", "<https://a.example/x>"],
    ["https://a.example/b_c_d*e*", "https://a.example/b_c_d*e*"],
    ["[a|b](https://x.example/|)", "<https://x.example/%7C|a/b>"],
    ["[wiki](https://x.example/Bank_(river))", "<https://x.example/Bank_(river)|wiki>"],
    ["[ada](mailto:ada@x.example)", "<mailto:ada@x.example|ada>"],
    ["[below](#usage), [file](src/a.ts), ![](img.png)", "below, file, img.png"],
  ])("link %s", (markdown, mrkdwn) => {
    expect(toMrkdwn(markdown)).toBe(mrkdwn);
  });

  test("people and channels stay mentioned; a whole channel is not called, whoever asks the model to", () => {
    expect(toMrkdwn("ask <@U0ADA> in <#C0OPS|ops>")).toBe("ask <@U0ADA> in <#C0OPS|ops>");
    expect(toMrkdwn("<!channel> <!here> <!everyone> <!subteam^S1>")).toBe(
      "&lt;!channel&gt; &lt;!here&gt; &lt;!everyone&gt; &lt;!subteam^S1&gt;",
    );
    expect(toMrkdwn("[<!channel>](https://x.example)")).not.toContain("<!");
    for (const called of ["!channel", "<!here>", "!subteam^S1", "@U0ADA", "#C0OPS"]) {
      expect(toMrkdwn(`[hi](${called}) ![](${called})`)).not.toMatch(/<[!@#]/);
    }
    expect(toMrkdwn("a < b & c > d")).toBe("a &lt; b &amp; c &gt; d");
  });

  test("code keeps its text and loses its language; one left open is closed; a table becomes code", () => {
    expect(toMrkdwn("```ts\nconst **a** = 1 < 2;\n```\nafter")).toBe("```\nconst **a** = 1 &lt; 2;\n```\nafter");
    expect(toMrkdwn("~~~\n```\n~~~")).toBe("```\n```\n```");
    expect(toMrkdwn("```\nopen")).toBe("```\nopen\n```");
    expect(toMrkdwn("| a | b |\n|---|---|\n| 1 | **2** |\n\nend")).toBe(
      "```\n| a | b |\n|---|---|\n| 1 | **2** |\n```\n\nend",
    );
  });
});

test("no text takes longer than its length: a heading of blanks, brackets and stars that nothing closes", () => {
  const many = 60_000;
  for (const part of [" ", "![", "[a](", "*a ", "`a``b", "__a", "<https://", "# "]) {
    const text = `# x${part.repeat(many / part.length)}y`;
    expect(toMrkdwn(text).length).toBeGreaterThan(many / 4);
    expect(toMrkdwn(text.slice(3)).length).toBeGreaterThan(0);
  }
});

const markdown = fc.string({
  unit: fc.constantFrom(
    "a",
    "b ",
    "*",
    "**",
    "_",
    "~~",
    "`",
    "```",
    "\n",
    "<",
    ">",
    "&",
    "|",
    "[x](y)",
    "# ",
    "- ",
    "\\",
    "\0",
    "<!here>",
    "<@U1>",
    "🦊",
  ),
  maxLength: 60,
});

test("any text: never a broadcast, never an unfinished piece, code fences in pairs", () => {
  fc.assert(
    fc.property(markdown, (text) => {
      const slack = toMrkdwn(text);
      expect(slack).not.toContain("<!");
      expect(slack).not.toContain("\0");
      expect(slack.split("\n").filter((line) => line === "```").length % 2).toBe(0);
      // Every < that is left begins a link or a mention, and every one is closed.
      expect(slack.replace(/<(?:@|#|https?:|mailto:|y)[^<>]*>/g, "")).not.toContain("<");
    }),
  );
});

test("text without marks comes through, and back, as it was", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "Z", "7", " ", ".", "ß", "🦊", "<", "&", ">") }), (text) => {
      const line = `x${text}x`;
      expect(unescapeText(toMrkdwn(line))).toBe(line);
    }),
  );
});

test("splitting: a line without a blank is cut beside its links and escapes, not within", () => {
  const line = `${"x".repeat(95)}<https://a.example/b|c>${"&lt;".repeat(60)}`;
  const parts = splitMessage(line, 110);
  expect(parts.join("")).toBe(line);
  for (const part of parts) expect(part).toMatch(/^(?:x|<https:\/\/a\.example\/b\|c>|&lt;)+$/);
});

test("splitting: no part too long, none empty, nothing lost, nothing doubled, code closed in each", () => {
  const line = fc.oneof(fc.constant("```"), fc.string({ unit: fc.constantFrom("a", "b", " ", "🦊"), maxLength: 90 }));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), fc.integer({ min: 40, max: 200 }), (lines, limit) => {
      const parts = splitMessage(lines.join("\n"), limit);
      for (const part of parts) {
        expect(part.length).toBeLessThanOrEqual(limit);
        expect(part.trim()).not.toBe("");
        expect(part.split("\n").filter((each) => each === "```").length % 2).toBe(0);
        // No character is cut in two.
        expect(() => encodeURIComponent(part)).not.toThrow();
      }
      const words = (text: string) => text.replaceAll("```", "").replace(/\s+/g, "");
      expect(words(parts.join("\n"))).toBe(words(lines.join("\n")));
    }),
  );
});
