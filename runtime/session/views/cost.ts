import type { Cost, SessionEvent, Usage } from "../event.js";
import { addUsage, freeModel } from "../state.js";

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Tokens and money of one turn. */
export interface TurnCost {
  readonly turnId: string;
  readonly usage: Usage;
  /** Absent when the price of one of its steps is not known. */
  readonly cost?: Cost;
}

/** Tokens and money of a session, turn by turn; of failed and open turns, too. */
export interface SessionCost {
  readonly turns: readonly TurnCost[];
  readonly total: { readonly usage: Usage; readonly cost?: { readonly totalUsd: number } };
  /** Models without a known price, sorted: what their turns cost is in no sum. */
  readonly unpriced?: readonly string[];
}

/** Sums up a session, event by event. */
export interface CostView {
  apply(event: SessionEvent): void;
  result(): SessionCost;
}

interface Sum {
  readonly model: string;
  usage: Usage;
  costUsd: number | undefined;
  /** Models of steps that have tokens and no price. */
  readonly unpriced: Set<string>;
}

export function createCostView(): CostView {
  const turns = new Map<string, Sum>();
  /** Models that subagents run on, by the call they work for. */
  const models = new Map<string, string>();

  function addStep(turnId: string, { usage, costUsd, parentCallId }: SessionEvent<"step.completed">["data"]): void {
    const sum = turns.get(turnId);
    if (sum === undefined) return;
    sum.usage = addUsage(sum.usage, usage) ?? noUsage;
    if (costUsd !== undefined) sum.costUsd = (sum.costUsd ?? 0) + costUsd;
    else if (usage !== undefined) {
      const model = models.get(parentCallId ?? "") ?? sum.model;
      if (sum.model !== freeModel) sum.unpriced.add(model);
    }
  }

  return {
    apply(event) {
      const { turnId } = event;
      if (turnId === undefined) return;
      if (event.type === "turn.started") {
        turns.set(turnId, { model: event.data.model, usage: noUsage, costUsd: undefined, unpriced: new Set() });
      } else if (event.type === "subagent.called") {
        if (event.data.model !== undefined) models.set(event.data.callId, event.data.model);
      } else if (event.type === "step.completed") addStep(turnId, event.data);
    },
    result() {
      const listed = [...turns].map(([turnId, sum]) => toTurn(turnId, sum));
      const usage = listed.reduce<Usage>((total, turn) => addUsage(total, turn.usage) ?? total, noUsage);
      const spent = listed.flatMap(({ cost }) => cost?.totalUsd ?? []);
      const unpriced = [...new Set([...turns.values()].flatMap((sum) => [...sum.unpriced]))].sort();
      return {
        turns: listed,
        total: {
          usage,
          ...(spent.length === 0 ? {} : { cost: { totalUsd: spent.reduce((sum, each) => sum + each, 0) } }),
        },
        ...(unpriced.length === 0 ? {} : { unpriced }),
      };
    },
  };
}

function toTurn(turnId: string, { model, usage, costUsd, unpriced }: Sum): TurnCost {
  const isPriced = costUsd !== undefined && unpriced.size === 0;
  return { turnId, usage, ...(isPriced ? { cost: { totalUsd: costUsd, model } } : {}) };
}
