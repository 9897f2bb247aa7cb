/** The playground in a real browser, against an emitted server. Source: `playground.md`. */
import { join } from "node:path";
import { expect } from "vitest";
import { buildPlayground } from "../../scripts/playground.mjs";
import { type Emitted, emitProject } from "../runtime/support/emitted.js";
import { call } from "../runtime/support/host.js";
import { browserTest, openPage } from "./chromium.js";

const pay = (mark: string) => `import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";

export default defineTool({
  description: "Pays.",
  inputSchema: z.object({ to: z.string() }),
  needsApproval: true,
  execute: ({ to }) => ({ receipt: \`${mark} for \${to}\` }),
});
`;

const project = {
  "package.json": '{ "name": "cashier", "private": true, "type": "module" }\n',
  "bot/agent.ts":
    'import { defineAgent } from "@cursor/bdk";\n\nexport default defineAgent({ model: "offline", description: "Looks after the till." });\n',
  "bot/tools/pay.ts": pay("paid"),
  "bot/tools/add.ts": `import { defineTool } from "@cursor/bdk/tools";
import { z } from "zod";

export default defineTool({
  description: "Adds.",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  effect: "read",
  execute: ({ a, b }) => ({ sum: a + b }),
});
`,
  "bot/channels/drive.ts": `import { defineChannel, POST } from "@cursor/bdk/channels";
import { z } from "zod";

export default defineChannel({
  routes: [
    POST("/", {
      description: "Looks after a pull request.",
      bodySchema: z.object({ prUrl: z.string() }),
      async handler(_request, { body, send }) {
        const session = await send(\`Drive \${body.prUrl}\`, { continuationToken: body.prUrl });
        return Response.json({ sessionId: session.id });
      },
    }),
  ],
});
`,
  "bot/channels/status.ts": `import { defineChannel, GET, POST } from "@cursor/bdk/channels";
import { z } from "zod";

export default defineChannel({
  routes: [
    GET("/", { querySchema: z.object({ of: z.string().optional() }), handler: (_request, { query }) => Response.json({ till: query.of ?? "all" }) }),
    POST("/till/:id", { bodySchema: z.object({ open: z.boolean() }), handler: (request, { body }) => Response.json({ path: new URL(request.url).pathname, ...body }) }),
  ],
});
`,
  "bot/schedules/count.md": '---\ncron: "0 9 * * *"\n---\n\nCount the till.\n',
};

/** Builds, and puts the page of these sources beside the bundle. */
async function build(emitted: Emitted, files: Readonly<Record<string, string>> = {}): Promise<void> {
  await emitted.build(files);
  await buildPlayground(join(import.meta.dirname, "../../playground"), join(emitted.work, "out/playground"));
}

browserTest(
  "a message is answered as it streams, a tool is called, and a parked call waits for its button",
  async () => {
    const emitted = await emitProject(project);
    await build(emitted);
    const url = await emitted.start();
    const { page, errors } = await openPage();
    await page.goto(`${url}/playground/?from=elsewhere`);
    expect(page.url()).toBe(`${url}/playground?from=elsewhere`);
    await page.getByRole("heading", { name: "cashier" }).waitFor();
    await page.getByText("Looks after the till.").waitFor();

    const message = page.getByRole("textbox", { name: "Message" });
    const conversation = page.getByRole("log", { name: "Conversation" });
    const send = async (text: string) => {
      await message.fill(text);
      await message.press("Enter");
    };
    await send("What is in the till?");
    await conversation.getByText("What is in the till?", { exact: true }).waitFor();
    await conversation.locator(".reply").first().waitFor();
    expect(page.url()).toContain("?sessionId=ses_");
    const sessionId = new URL(page.url()).searchParams.get("sessionId");

    await send('/add {"a":2,"b":40}');
    const added = conversation.locator(".call", { hasText: "add" });
    await added.getByText("done").waitFor();
    await added.locator("summary").click();
    await added.getByText('"sum": 42').waitFor();

    await send('/pay {"to":"Ada"}');
    const parked = conversation.locator(".call", { hasText: "pay" });
    await parked.getByText("waiting for approval").waitFor();
    await parked.getByRole("button", { name: "Approve" }).click();
    await parked.getByText("done").waitFor();
    await parked.locator("summary").click();
    await parked.getByText("paid for Ada").waitFor();
    await send('/pay {"to":"Bob"}');
    await page.getByRole("button", { name: "Deny" }).click();
    await conversation.locator(".call", { hasText: "Bob" }).locator(".state", { hasText: "denied" }).waitFor();

    // What a reload shows is what was live.
    const shown = async () => (await conversation.locator(".user, .reply").allInnerTexts()).join("\n");
    await expect.poll(async () => (await page.getByText("Working…").count()) === 0).toBe(true);
    const before = await shown();
    await page.reload();
    await conversation.locator(".call", { hasText: "Bob" }).waitFor();
    await expect.poll(shown).toBe(before);

    await page.getByRole("tab", { name: "Trace" }).click();
    await page.getByRole("cell", { name: "approval of pay" }).first().waitFor();
    await page.getByRole("tab", { name: "Raw" }).click();
    await page.getByRole("cell", { name: "action.approval_resolved" }).first().waitFor();
    await page.getByRole("searchbox").fill(String(sessionId));
    expect(await page.getByLabel("Sessions").getByRole("listitem").count()).toBe(1);
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByText("No sessions yet.").waitFor();
    expect(errors).toEqual([]);
  },
  180_000,
);

browserTest(
  "a call whose code has changed is approved only by someone who was told",
  async () => {
    const emitted = await emitProject(project);
    await build(emitted);
    const first = await emitted.start();
    const { body } = await call(`${first}/v1/session`, { body: { message: '/pay {"to":"Ada"}' } });
    const approvals = `/v1/session/${body.sessionId}/approvals`;
    await expect.poll(async () => (await call(first + approvals)).body.approvals).toHaveLength(1);
    await emitted.kill();
    await build(emitted, { "bot/tools/pay.ts": pay("transferred") });
    const url = await emitted.start();

    const { page, errors } = await openPage();
    await page.goto(`${url}/playground?sessionId=${body.sessionId}`);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("The code of pay has changed since it asked.").waitFor();
    expect((await call(url + approvals)).body.approvals).toMatchObject([{ changed: true }]);
    await page.getByRole("button", { name: "Approve all the same" }).click();
    const parked = page.locator(".call", { hasText: "pay" });
    await parked.getByText("done").waitFor();
    await parked.locator("summary").click();
    await parked.getByText("transferred for Ada").waitFor();
    expect(errors).toEqual([]);
  },
  180_000,
);

browserTest(
  "channel routes are slash commands and can be tried, as tools and schedules can",
  async () => {
    const emitted = await emitProject(project);
    await build(emitted);
    const url = await emitted.start({}, ["--dev"]);
    const { page, errors } = await openPage();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${url}/playground`);
    const message = page.getByRole("textbox", { name: "Message" });
    await page.getByText("Looks after the till.").waitFor();

    await message.fill("/help");
    await message.press("Enter");
    await expect
      .poll(() => page.locator(".notice").textContent())
      .toBe("/drive <pr-url>  Looks after a pull request.\n/status <of>\n/help");
    await message.fill("/st");
    await page.getByRole("list", { name: "Commands" }).getByText("/status <of>").waitFor();
    await message.press("Tab");
    expect(await message.inputValue()).toBe("/status ");
    await message.pressSequentially("coins");
    await message.press("Enter");
    await page.getByText('{"till":"coins"}').waitFor();
    await message.fill("/drive https://example.test/pull/7");
    await message.press("Enter");
    await page
      .getByRole("log", { name: "Conversation" })
      .getByText("Drive https://example.test/pull/7")
      .first()
      .waitFor();

    await page.getByRole("tab", { name: "Agent" }).click();
    const mcp = page.getByRole("region", { name: "MCP endpoints" });
    await mcp.getByText(`${url}/v1/mcp`, { exact: true }).waitFor();
    await mcp.getByText(`${url}/v1/mcp/tools`, { exact: true }).waitFor();
    const next = await page.locator("details", { hasText: "count" }).locator("time").getAttribute("datetime");
    expect(next).toMatch(/T09:00:00\.000Z$/);
    const tryIt = async (entry: string, index = 0) => {
      const details = page.locator(".entry", { has: page.locator("summary code", { hasText: entry }) });
      if ((await details.getAttribute("open")) === null) await details.locator("summary").click();
      await details.getByRole("button", { name: "Try" }).nth(index).click();
      return page.getByRole("dialog");
    };
    const tool = await tryIt("add");
    await tool.getByLabel("Body, as JSON").fill('{"a":1,"b":2}');
    await tool.getByRole("button", { name: "Send" }).click();
    await tool.getByText('"sum": 3').waitFor();
    await tool.getByRole("button", { name: "Copy curl" }).click();
    await tool.getByText("Copied").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `curl -X POST '${url}/v1/tools/add' -H 'content-type: application/json' -d '{"input":{"a":1,"b":2}}'`,
    );
    await tool.getByRole("button", { name: "Close" }).click();
    const again = await tryIt("add");
    expect(await again.getByLabel("Body, as JSON").inputValue()).toBe('{"a":1,"b":2}');
    await again.getByRole("button", { name: "Close" }).click();
    const route = await tryIt("status", 1);
    await route.getByLabel("Path").fill("/v1/channels/status/till/9");
    await route.getByRole("button", { name: "Send" }).click();
    await route.getByText('"path": "/v1/channels/status/till/9"').waitFor();
    await route.getByRole("button", { name: "Close" }).click();

    await page.getByRole("button", { name: "Run count" }).click();
    await page.getByRole("log", { name: "Conversation" }).getByText("Count the till.").first().waitFor();
    await page.getByRole("tab", { name: "Logs" }).click();
    await page.getByRole("log", { name: "Server log" }).getByText("offline model").first().waitFor();
    expect(errors).toEqual([]);
  },
  180_000,
);

browserTest(
  "where a token is needed the page asks for it, and works with it",
  async () => {
    const emitted = await emitProject(project);
    await build(emitted);
    const url = await emitted.start({}, ["--bearer-token", "open-sesame"]);
    const { page } = await openPage();
    await page.goto(`${url}/playground`);
    await page.getByText("This server wants a token").waitFor();
    await page.getByLabel("Token").fill("open-sesame");
    await page.getByLabel("Token").press("Enter");
    await page.getByText("Looks after the till.").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("hello");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("log", { name: "Conversation" }).locator(".reply").waitFor();
  },
  180_000,
);
