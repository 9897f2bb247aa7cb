/** Mounts as packages and projects write them. Most of it is for tsc to check; the rest is what helpers do at run time. */
import { cursorPlugin, defineExtension, disableConnection, type ExtensionMount } from "@cursor/bdk/extensions";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod-3";

const root = import.meta.dirname;
const description = "Finds out why builds fail.";

describe("defineExtension", () => {
  it("types the settings of a mount, and config with its defaults", () => {
    const config = z.object({ org: z.string(), lines: z.number().default(200), token: z.string().optional() });
    const ci = defineExtension({ root, description, config });
    expectTypeOf<typeof ci.config>().toEqualTypeOf<{ org: string; lines: number; token?: string | undefined }>();
    const mount = ci({ org: "acme" });
    expectTypeOf(mount).toExtend<ExtensionMount<typeof config>>();
    expect(ci.config).toEqual({ org: "acme", lines: 200 });
    // @ts-expect-error org is required
    expect(() => ci({ lines: 1 })).toThrow("wrong settings: org: ");
    // @ts-expect-error settings are required
    expect(() => ci()).toThrow("wrong settings: org: ");
    // What was wrong changes nothing.
    expect(ci.config.org).toBe("acme");
  });

  it("takes no argument where every setting has a default, and none where there are none", () => {
    const hello = defineExtension({ root, description, config: z.object({ greeting: z.string().default("Hello") }) });
    expect(hello.config).toEqual({ greeting: "Hello" });
    expect(hello.config).toBe(hello.config);
    hello();
    hello({ greeting: "Hi" });
    expect(hello.config.greeting).toBe("Hi");
    const plain = defineExtension({ root, description });
    expect(plain().__agentServe).toBe("extension");
    // @ts-expect-error it takes no settings
    plain({ greeting: "Hi" });
    expectTypeOf(plain.config).toEqualTypeOf<undefined>();
  });

  it("takes zod 3 and any Standard Schema, and refuses one that is asynchronous", () => {
    const old = defineExtension({
      root,
      description,
      config: z3.object({ org: z3.string(), lines: z3.number().default(5) }),
    });
    old({ org: "acme" });
    expect(old.config).toEqual({ org: "acme", lines: 5 });
    const own = defineExtension({
      root,
      description,
      config: {
        "~standard": {
          version: 1,
          vendor: "test",
          validate: (value: unknown) => ({ value: { given: JSON.stringify(value) } }),
        },
      },
    });
    own({ a: 1 });
    expect(own.config).toEqual({ given: '{"a":1}' });
    const slow = defineExtension({ root, description, config: z.object({ a: z.string().refine(async () => false) }) });
    expect(() => slow({ a: "x" })).toThrow("can't be validated asynchronously");
  });

  it("has no settings before a mount gives those that it needs", () => {
    const ci = defineExtension({ root, description, config: z.object({ org: z.string(), token: z.string() }) });
    expect(() => ci.config).toThrow("the extension has no settings yet: it needs org, token");
  });
});

describe("plugins and overlays", () => {
  it("are plain values", () => {
    expect(cursorPlugin({ path: "plugins/notes" })).toEqual({
      __agentServe: "extension",
      plugin: { path: "plugins/notes", variables: {} },
    });
    expect(disableConnection()).toEqual({ __agentServe: "disable", kind: "mcp-connection" });
    // @ts-expect-error variables are strings
    cursorPlugin({ path: "plugins/notes", variables: { PORT: 8080 } });
  });
});
