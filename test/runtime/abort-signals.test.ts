import { expect, onTestFinished, test } from "vitest";
import { alice, openSessions, run } from "./support/sessions.js";

test("many calls under one signal are no leak: a turn's, and direct ones of a server that closes", async () => {
  const warned: string[] = [];
  const onWarning = ({ name }: Error) => void (name === "MaxListenersExceededWarning" && warned.push(name));
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  let waiting = 0;
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const hold = {
    effect: "read" as const,
    execute: async () => {
      waiting += 1;
      if (waiting === 40) open();
      await gate;
    },
  };
  const sessions = await openSessions({ tools: { hold } });
  const closing = new AbortController();
  const direct = Array.from({ length: 20 }, () =>
    sessions.callTool(alice, { toolName: "hold", input: {}, signal: closing.signal }),
  );
  await run(sessions, "/hold {}\n".repeat(20));
  await Promise.all(direct);
  expect(warned).toEqual([]);
});
