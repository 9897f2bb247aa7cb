import { describe, expect, it } from "vitest";
import type { Change } from "../../compiler/diff/change.js";
import { diff } from "../../compiler/diff/diff.js";
import { renderJson } from "../../compiler/diff/render/json.js";
import { renderMarkdown } from "../../compiler/diff/render/markdown.js";
import { renderTerminal } from "../../compiler/diff/render/terminal.js";
import { edited, example, tool } from "./diff-example.js";

const changes = diff(
  example(),
  edited((agent) => {
    agent.tools = agent.tools.slice(0, 2);
    for (const each of agent.tools.slice(1)) Object.assign(each, { package: "@acme/ci@2.0.0", effect: "write" });
    for (const mount of agent.extensions) Object.assign(mount, { package: "@acme/ci@2.0.0" });
    for (const part of agent.instructions.parts.slice(1)) Object.assign(part, { package: "@acme/ci@2.0.0" });
    agent.tools.push(tool("merge"));
    agent.instructions.text = "You review.\nBe kind.\n";
    for (const channel of agent.channels) delete channel.auth;
  }),
);

describe("terminal", () => {
  it("shows the summary, levels, each package once, and text diffs", () => {
    expect(renderTerminal(changes)).toBe(
      [
        "1 breaking, 2 risky, 3 compatible",
        "",
        "Risky",
        '  channel:drive  auth dropped: was "localDevStrict", "bearerAuth"',
        "",
        "Compatible",
        "  instructions  text changed; it has a part of @acme/ci@1.2.0 → @acme/ci@2.0.0",
        "      @@ -1,3 +1,2 @@",
        "       You review.",
        "      -Be brief.",
        "       Be kind.",
        "  tool:merge  added: read tool",
        "",
        "@acme/ci 1.2.0 → 2.0.0 (1 breaking, 1 risky, 1 compatible)",
        "  breaking    tool:ci__retry_job  removed",
        "  risky       tool:ci__job_log  effect changed from read to write",
        "  compatible  extension:ci  package changed from @acme/ci@1.2.0 to @acme/ci@2.0.0",
        "",
      ].join("\n"),
    );
  });

  it("colours only when asked", () => {
    expect(renderTerminal(changes)).not.toContain("\u001b[");
    expect(renderTerminal(changes, { colour: true })).toContain("\u001b[33mRisky\u001b[39m");
  });

  it("can leave out text diffs", () => {
    expect(renderTerminal(changes, { textDiffs: false })).not.toContain("Be brief.");
  });

  it("says so when there is nothing", () => expect(renderTerminal([])).toBe("no changes\n"));

  it("sends no control character of the manifest to the screen", () => {
    const text = renderTerminal([hostile("\u001b[2J\u0007\u202e\u009b31m")], { colour: false });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text).toContain("\\u{1b}[2J");
  });
});

describe("json", () => {
  it("is the changes with their counts", () => {
    expect(JSON.parse(renderJson(changes))).toEqual({
      diffVersion: 1,
      counts: { breaking: 1, risky: 2, compatible: 3 },
      changes,
    });
  });
});

describe("markdown", () => {
  it("is a comment with what is grave in front and the rest folded", () => {
    expect(renderMarkdown(changes)).toBe(
      [
        "## Manifest diff: 1 breaking, 2 risky, 3 compatible",
        "",
        "### ⚠️ Risky",
        "",
        '- `channel:drive` auth dropped: was "localDevStrict", "bearerAuth"',
        "",
        "### `@acme/ci` 1.2.0 → 2.0.0 (1 breaking, 1 risky, 1 compatible)",
        "",
        "- breaking: `tool:ci__retry_job` removed",
        "- risky: `tool:ci__job_log` effect changed from read to write",
        "- compatible: `extension:ci` package changed from @\u200bacme/ci@\u200b1.2.0 to @\u200bacme/ci@\u200b2.0.0",
        "",
        "<details><summary>✅ Compatible (2)</summary>",
        "",
        "- `instructions` text changed; it has a part of @\u200bacme/ci@\u200b1.2.0 → @\u200bacme/ci@\u200b2.0.0",
        "- `tool:merge` added: read tool",
        "",
        "</details>",
        "",
        "<details><summary><code>instructions/text</code> (+0 −1)</summary>",
        "",
        "```diff",
        "@@ -1,3 +1,2 @@",
        " You review.",
        "-Be brief.",
        " Be kind.",
        "```",
        "",
        "</details>",
        "",
      ].join("\n"),
    );
  });

  it("lets no text of the manifest become markup, a link or a mention", () => {
    const evil =
      "</details><img src=x onerror=alert(1)> [a](http://evil.test) **b** `c` @octocat #12 GH-7 www.evil.test\n# title\n- item";
    const text = renderMarkdown([hostile(evil)]);
    const line = text.split("\n").find((each) => each.startsWith("- ")) ?? "";
    const message = line.slice(line.lastIndexOf("input"));
    expect(message).toBe(
      "input &lt;/details&gt;&lt;img src=x onerror=alert\\(1\\)&gt; \\[a\\]\\(http:\u200b//evil.test\\) \\*\\*b\\*\\* \\`c\\` " +
        "@\u200boctocat \\#\u200b12 GH-\u200b7 w\u200bww.evil.test \\#\u200b title - item",
    );
    expect(text.split("\n").filter((each) => each.startsWith("#"))).toHaveLength(2);
  });

  it("keeps an entry's name inside its code span", () => {
    const [line] = renderMarkdown([{ ...hostile("x"), entry: "tool:a``b` <b>" }])
      .split("\n")
      .filter((each) => each.startsWith("- "));
    expect(line).toBe("- ```tool:a``b` <b>``` input x");
  });

  it("keeps a text diff inside its fence", () => {
    const text = renderMarkdown([{ ...hostile("x"), textDiff: "@@ -1 +1 @@\n ```\n+````\n-</details>" }]);
    expect(text).toContain("`````diff\n@@ -1 +1 @@\n ```\n+````\n-</details>\n`````");
  });

  it("fits into a comment, text diffs leaving first", () => {
    const long = Array.from({ length: 400 }, (_, index) => ({
      ...hostile(`number ${index}`),
      textDiff: "+line\n".repeat(200),
    }));
    const some = renderMarkdown(long);
    expect(some.length).toBeLessThanOrEqual(60_000);
    expect(some).toContain("number 399");
    expect(some).toContain("400 text diffs left out");
    const few = renderMarkdown(long, { maxLength: 2_000 });
    expect(few.length).toBeLessThanOrEqual(2_000);
    expect(few).toContain("the rest left out");
  });

  it("says so when there is nothing", () => expect(renderMarkdown([])).toBe("## Manifest diff: no changes\n"));
});

function hostile(text: string): Change {
  return {
    agent: "a",
    entry: "tool:x",
    path: "/inputSchema",
    kind: "changed",
    level: "breaking",
    message: `input ${text}`,
  };
}
