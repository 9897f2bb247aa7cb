import { createCostView, type SessionCost } from "../../runtime/session/views/cost.js";
import { openServer } from "../client/target.js";
import { exit } from "../exit.js";
import type { Run } from "../index.js";
import { findSession, readTrace, tracePath } from "../state/folder.js";
import { columns } from "../ui/columns.js";
import { writeJson } from "../ui/terminal.js";

export const run: Run<"cost"> = async ({ args, options }, terminal) => {
  const sessionId = args[0] ?? "";
  const cost =
    options.url === undefined
      ? costOf(tracePath(findSession(options, sessionId).agent, sessionId))
      : await (await openServer(options, options.url)).cost(sessionId);
  if (options.json) {
    await writeJson(terminal.out, { sessionId, ...cost });
    return exit.ok;
  }
  const rows = cost.turns.map(({ turnId, usage, cost: money }, at) => [
    `turn ${at + 1}`,
    turnId,
    `${usage.inputTokens} in`,
    `${usage.outputTokens} out`,
    money === undefined ? "-" : dollars(money.totalUsd),
  ]);
  const { usage, cost: sum } = cost.total;
  const total = [
    "total",
    "",
    `${usage.inputTokens} in`,
    `${usage.outputTokens} out`,
    sum ? dollars(sum.totalUsd) : "-",
  ];
  for (const line of columns([...rows, total])) await terminal.out.line(line);
  if (cost.unpriced !== undefined) {
    await terminal.err.line(`no price is known for ${cost.unpriced.join(", ")}: what their turns cost is not counted`);
  }
  return exit.ok;
};

function costOf(trace: string): SessionCost {
  const view = createCostView();
  for (const event of readTrace(trace)) view.apply(event);
  return view.result();
}

function dollars(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 6 : 2)}`;
}
