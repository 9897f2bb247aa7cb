import type { Cost, SessionEvent, Usage } from "../event.js";
import { addUsage } from "../state.js";

/** Tokens and money of a session, turn by turn. */
export interface CostView {
  readonly turns: readonly { readonly turnId: string; readonly usage?: Usage; readonly cost?: Cost }[];
  readonly total: { readonly usage?: Usage; readonly costUsd?: number };
}

export const noCost: CostView = { turns: [], total: {} };

/** Folds one event into the cost view; only ended turns count. */
export function foldCost(view: CostView, event: SessionEvent): CostView {
  if (event.type !== "turn.completed" || event.turnId === undefined) return view;
  const { usage, cost } = event.data;
  const total = addUsage(view.total.usage, usage);
  const spent = cost === undefined ? view.total.costUsd : (view.total.costUsd ?? 0) + cost.totalUsd;
  const turn = {
    turnId: event.turnId,
    ...(usage === undefined ? {} : { usage }),
    ...(cost === undefined ? {} : { cost }),
  };
  return {
    turns: [...view.turns, turn],
    total: { ...(total === undefined ? {} : { usage: total }), ...(spent === undefined ? {} : { costUsd: spent }) },
  };
}
