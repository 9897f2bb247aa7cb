import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { HostServices } from "../../runtime/authoring/host.js";
import type { ToolContext } from "../../runtime/authoring/tools.js";
import { alice, openSessions, run, tempDir } from "./support/sessions.js";

/** Opens sessions and hands out the services that a session's tool gets. */
async function servicesOfSession(
  root: string,
): Promise<{ host: HostServices; close: () => Promise<void>; id: string }> {
  let host: HostServices | undefined;
  const sessions = await openSessions({
    root,
    tools: {
      grab: {
        execute: (_: never, ctx: ToolContext) => {
          host = ctx.host;
        },
      },
    },
  });
  const { sessionId } = await run(sessions, "/grab {}");
  if (host === undefined) throw new Error("the tool did not run");
  return { host, close: () => sessions.close(), id: sessionId };
}

test("of many puts of one key the last counts, without a write for each; deletes keep their place among them", async () => {
  const root = tempDir();
  const { host, close } = await servicesOfSession(root);
  const { kv } = host;
  const puts = Array.from({ length: 20_000 }, (_, value) => kv.put("hot", value));
  await Promise.all(puts);
  expect(await kv.get("hot")).toBe(19_999);
  await Promise.all([kv.put("a", 1), kv.put("a", 2), kv.delete("a")]);
  expect(await kv.get("a")).toBeUndefined();
  await Promise.all([kv.put("a", 1), kv.delete("a"), kv.put("a", 2), kv.delete("a"), kv.put("a", 3)]);
  expect(await kv.get("a")).toBe(3);
  await close();
  const again = await servicesOfSession(root);
  expect([await again.host.kv.get("hot"), await again.host.kv.get("a")]).toEqual([19_999, 3]);
});

test("kv keeps JSON across restarts, under any key, last put wins", async () => {
  const root = tempDir();
  const { host, close } = await servicesOfSession(root);
  const { kv } = host;
  expect(await kv.get("a")).toBeUndefined();
  await Promise.all([1, 2, 3].map((value) => kv.put("a", value)));
  expect(await kv.get("a")).toBe(3);
  for (const key of ["", "..", "a/b", "A", "ключ", "x".repeat(5_000)]) await kv.put(key, { key });
  await kv.put("gone", 1);
  await kv.delete("gone");
  await kv.delete("never");
  await kv.put("date", { at: new Date(0), u: undefined });
  for (const bad of [undefined, () => 1, 1n]) await expect(kv.put("bad", bad)).rejects.toThrow('kv.put("bad")');
  await close();
  const again = await servicesOfSession(root);
  for (const key of ["", "..", "a/b", "A", "ключ", "x".repeat(5_000)])
    expect(await again.host.kv.get(key)).toEqual({ key });
  expect(await again.host.kv.get("a")).toBe(3);
  expect(await again.host.kv.get("gone")).toBeUndefined();
  expect(await again.host.kv.get("date")).toEqual({ at: "1970-01-01T00:00:00.000Z" });
});

test("files belong to the session or to the deployment, and stay inside", async () => {
  const root = tempDir();
  const { host, id } = await servicesOfSession(root);
  const { files } = host;
  const text = async (path: string, scope?: "deployment") => {
    const bytes = await files.read(path, scope === undefined ? undefined : { scope });
    return bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8");
  };
  await files.write("a/b.txt", "one");
  await files.write("a/b.txt", new TextEncoder().encode("two"));
  await Promise.all(["x", "y", "z"].map((line) => files.append("log.txt", `${line}\n`)));
  await files.write("a/b.txt", "shared", { scope: "deployment" });
  expect(await text("a/b.txt")).toBe("two");
  expect(await text("a/b.txt", "deployment")).toBe("shared");
  expect((await text("log.txt"))?.split("\n").sort()).toEqual(["", "x", "y", "z"]);
  expect(await files.list()).toEqual(["a/b.txt", "log.txt"]);
  expect(await files.list("a/")).toEqual(["a/b.txt"]);
  await files.delete("log.txt");
  await files.delete("log.txt");
  expect(await text("log.txt")).toBeUndefined();
  const own = join(root, "state", "sessions", id, "files");
  mkdirSync(join(root, "secret"));
  symlinkSync(join(root, "secret"), join(own, "link"));
  symlinkSync(join(root, "state", "token.key"), join(own, "key"));
  for (const path of ["../session.json", "/etc/passwd", "a/../../x", "link/x", ""]) {
    await expect(files.write(path, "x")).rejects.toThrow("path");
    await expect(files.read(path)).rejects.toThrow("path");
  }
  await expect(files.read("key")).rejects.toThrow("is a link");
  await expect(files.write("key", "x")).rejects.toThrow();
});

test("files of a call outside any session need the deployment scope", async () => {
  const sessions = await openSessions({
    tools: {
      own: { execute: (_: never, ctx: ToolContext) => ctx.host.files.write("x", "x") },
      shared: { execute: (_: never, ctx: ToolContext) => ctx.host.files.write("x", "x", { scope: "deployment" }) },
    },
  });
  expect(await sessions.callTool(alice, { toolName: "own", input: {} })).toMatchObject({
    isError: true,
    result: { message: expect.stringContaining("deployment") },
  });
  expect(await sessions.callTool(alice, { toolName: "shared", input: {} })).toMatchObject({ isError: false });
});

test("what JavaScript gives beyond the types is refused in words, or left out by otel", async () => {
  const root = tempDir();
  const { host, close } = await servicesOfSession(root);
  const odd = (value: unknown) => value as never;
  for (const key of [5, null, {}, undefined]) {
    await expect(host.kv.put(odd(key), 1)).rejects.toThrow("host.kv: a key is a string");
    await expect(host.kv.get(odd(key))).rejects.toThrow("host.kv: a key is a string");
    await expect(host.files.read(odd(key))).rejects.toThrow("host.files: a path is a string");
    await expect(host.files.write(odd(key), "x")).rejects.toThrow("host.files: a path is a string");
    await expect(host.files.write("a.txt", odd(key))).rejects.toThrow("is a string or a Uint8Array");
  }
  await expect(host.files.write("a.txt", "x", odd({ scope: "weird" }))).rejects.toThrow('not "weird"');
  await host.files.write("folder/a.txt", "x");
  expect(await host.files.read("folder")).toBeUndefined();
  for (const [act, reason] of [
    [host.files.write("folder", "x"), 'path "folder" is a folder'],
    [host.files.append("folder", "x"), 'path "folder" is a folder'],
    [host.files.delete("folder"), 'path "folder" is a folder'],
    [host.files.write("folder/a.txt/b", "x"), 'path "folder/a.txt/b" leads through a file'],
  ] as const) {
    await expect(act).rejects.toThrow(new Error(reason));
  }
  expect(await host.files.read("folder/a.txt/b")).toBeUndefined();
  for (const value of ["1", null, Number.NaN, 10n]) {
    host.otel.increment("odd", odd(value), odd(null));
    host.otel.histogram("odd", odd(value), odd([1]));
    host.otel.tag("odd", odd(value === "1" ? {} : null));
  }
  host.otel.increment("odd", 1, odd({ a: { b: 1 }, c: null }));
  await close();
});
