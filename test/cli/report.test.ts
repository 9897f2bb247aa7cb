import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { main } from "../../cli/index.js";
import { reportBug } from "../../cli/report.js";
import type { Sink } from "../../cli/ui/sink.js";

function memorySink(write: (text: string) => void): Sink {
  const put = async (text: string) => write(text);
  return {
    colors: pc.createColors(false),
    isTerminal: false,
    columns: 80,
    write: put,
    line: (text = "") => put(`${text}\n`),
  };
}

describe("a bug of ours", () => {
  test("is BDK9001 with its stack and how to report it, and exit code 70", async () => {
    let said = "";
    const code = await main(["version"], {
      out: memorySink(() => {
        throw new TypeError("x is not a function");
      }),
      err: memorySink((text) => {
        said += text;
      }),
      interactive: false,
    });
    expect(code).toBe(70);
    expect(said).toContain("error[BDK9001]: bdk hit a bug: x is not a function");
    expect(said).toContain("report.test.ts");
    expect(said).toMatch(/bdk \d+\.\d+\.\d+, node \d+/);
  });

  test("is told without the secrets of the command line", async () => {
    let said = "";
    const sink = memorySink((text) => {
      said += text;
    });
    const argv = ["serve", "--bearer-token", "topsecret", "--operator-token=other-secret", "--port", "0"];
    await reportBug(new Error("lost"), argv, { out: sink, err: sink, interactive: false }, false);
    expect(said).toContain("bdk serve --bearer-token *** --operator-token=*** --port 0");
    expect(said).not.toContain("secret");
  });
});
