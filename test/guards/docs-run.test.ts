/** The `curl` calls of the pages, made for real against the example bot. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServeHandle, serve } from "@cursor/bdk/serve";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeBlocks } from "./markdown.js";
import { filesBelow, packageRoot } from "./source-files.js";

interface CurlCall {
  readonly place: string;
  readonly path: string;
  readonly init: RequestInit;
}

/** Reads the forms of `curl` that the pages use: `-X`, `-H`, `-d` and the address. */
function readCurl(place: string, command: string): CurlCall {
  const words = [...command.replace(/\\\n/g, " ").matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? "",
  );
  const valuesOf = (flag: string) => words.flatMap((word, i) => (words[i - 1] === flag ? [word] : []));
  const url = words.find((word) => word.startsWith("http://127.0.0.1:3000/"));
  if (url === undefined) throw new Error(`${place}: no address of the example server in: ${command}`);
  const headers = valuesOf("-H").map((line) => line.split(/:\s*/, 2) as [string, string]);
  const [body] = valuesOf("-d");
  return {
    place,
    path: new URL(url).pathname + new URL(url).search,
    init: { method: valuesOf("-X")[0] ?? "GET", headers, ...(body === undefined ? {} : { body }) },
  };
}

const calls = ["README.md", ...filesBelow("docs", ".md")]
  .flatMap(codeBlocks)
  .filter((block) => block.language === "sh" && /^curl /m.test(block.code))
  .map((block) => readCurl(`${block.file}:${block.line}`, block.code));

describe("curl calls of the pages", () => {
  let stateRoot = "";
  let server: ServeHandle;
  beforeAll(async () => {
    stateRoot = await mkdtemp(join(tmpdir(), "bdk-docs-"));
    const options = { port: 0, model: "offline", stateRoot, log: () => {} };
    server = await serve(join(packageRoot, "fixtures/projects/pr-approver"), options);
  });
  afterAll(async () => {
    await server?.close();
    await rm(stateRoot, { recursive: true, force: true });
  });

  it("are there", () => {
    expect(calls.length).toBeGreaterThanOrEqual(4);
  });

  it.each(calls)("$place: $path", async ({ path, init }) => {
    const response = await fetch(server.url + path, init);
    const body = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(200);
    if (path.includes("/v1/mcp")) {
      expect(body).toMatchObject({ result: { structuredContent: { status: "finished" } } });
      return;
    }
    expect(body.ok).toBe(true);
    if (path.endsWith("/v1/session")) {
      expect(body).toMatchObject({ sessionId: expect.stringMatching(/^ses_/), continuationToken: expect.any(String) });
    }
    if (path.includes("/v1/tools/")) expect(body).toMatchObject({ isError: false });
  });
});
