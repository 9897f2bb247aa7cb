import { openTarget } from "../client/target.js";
import { exit } from "../exit.js";
import type { Run } from "../index.js";
import { readJsonInput } from "../input.js";
import { writeJson } from "../ui/terminal.js";

export const run: Run<"call"> = async ({ args, options }, terminal) => {
  const tool = args[0] ?? "";
  const input = await readJsonInput(options.input);
  const target = await openTarget({ ...options, modelWarnings: false }, terminal);
  try {
    const answer = await target.client.callTool(tool, input);
    await writeJson(terminal.out, options.json ? answer : answer.result);
    return answer.isError ? exit.failed : exit.ok;
  } finally {
    await target.close();
  }
};
