/**
 * What GitHub is told of a turn: that it began, how it ended, and the reply. Events come at least once, so each turn's
 * record says what was done already; a comment whose posting may have been cut off is looked for before it is posted.
 */

import type { GitHubChannelOptions } from "../../authoring/channels/github.js";
import type { ChannelConfig, ChannelEventContext } from "../../authoring/channels.js";
import type { JsonValue, SessionEvent } from "../../session/event.js";
import type { PackHost } from "../packs.js";
import { type BannerState, bannerText } from "./banner.js";
import type { Client } from "./client.js";
import { type Target, targetOfKey } from "./conversation.js";
import {
  attempt,
  findComment,
  insist,
  markedText,
  markOf,
  type PublishContext,
  postComment,
  react,
  unreact,
} from "./publish.js";

/** One turn, as the pack keeps it while it runs. */
interface TurnRecord {
  readonly target: Target;
  /** ISO-8601 instant at which it began. */
  readonly at: string;
  /** Id of the eyes. */
  readonly eyes?: number;
  /** Its comment may have been posted. */
  readonly isPosting?: boolean;
}

/** A reply waits for as long as GitHub's hourly allowance may be used up, in milliseconds. */
const replyPatience = 65 * 60_000;

type TurnEvent = SessionEvent<"turn.started" | "turn.completed" | "turn.failed" | "action.approval_requested">;
type Ending = "completed" | "failed" | "cancelled";

/** Keys of the pack's own store. */
const keys = {
  target: (conversation: string) => `conversation ${conversation}`,
  turn: (turnId: string) => `turn ${turnId}`,
  banner: ({ owner, repo, number }: Target) => `banner ${owner}/${repo}#${number}`,
};

export interface Turns {
  readonly events: NonNullable<ChannelConfig["events"]>;
  /** Notes where the answer to the next turn of a conversation goes. */
  expect(conversation: string, target: Target): Promise<void>;
}

export function createTurns(
  { id, kv, log, closing: signal }: PackHost,
  { botName = id, deliverReplies = true, progress = {} }: GitHubChannelOptions,
  clientOf: (target: Target) => Promise<Client>,
): Turns {
  const { reactions = false, commitStatus = false, banner = false } = progress;
  const shows = reactions || commitStatus || banner;
  const isSilent = !deliverReplies && !shows;
  /** The last reply of each turn; lost with the process, and then the turn's result is posted. */
  const replies = new Map<string, string>();

  async function begin(event: SessionEvent<"turn.started">, ctx: ChannelEventContext): Promise<void> {
    const key = ctx.channel.continuationToken;
    if (isSilent || key === null || event.turnId === undefined) return;
    const target = ((await kv.get(keys.target(key))) as Target | undefined) ?? targetOfKey(key);
    if (target === undefined) return;
    const record: TurnRecord = { target, at: event.at };
    await save(event.turnId, record);
    if (!shows) return;
    const context = await open(target);
    if (context === undefined) return;
    if (reactions) {
      const eyes = await attempt(context, "a reaction", () => insist(context, () => react(context, "eyes")));
      if (eyes !== undefined) await save(event.turnId, { ...record, eyes });
    }
    await show(context, "running");
  }

  async function end(event: SessionEvent<"turn.completed" | "turn.failed">): Promise<void> {
    const { turnId } = event;
    if (isSilent || turnId === undefined) return;
    const record = (await kv.get(keys.turn(turnId))) as TurnRecord | undefined;
    const reply = replies.get(turnId);
    replies.delete(turnId);
    // A turn without a record was answered to its end, or began where there is nowhere to answer.
    if (record === undefined) return;
    const context = await open(record.target);
    if (context === undefined) return;
    const ending = endingOf(event);
    if (deliverReplies && event.type === "turn.completed") {
      const text = reply ?? textOf(event.data.result);
      const patient = { ...context, patience: replyPatience };
      if (text !== undefined) await attempt(patient, "the reply", () => post(patient, event, record, text));
    }
    await show(context, ending);
    if (reactions) await attempt(context, "a reaction", () => conclude(context, ending, record.eyes));
    await kv.delete(keys.turn(turnId));
  }

  /** Posts the reply, unless an earlier try did. */
  async function post(context: PublishContext, event: TurnEvent, record: TurnRecord, text: string): Promise<void> {
    const mark = markOf(`${event.sessionId}:${event.index}`);
    const find = () => findComment(context, mark, record.at);
    if (record.isPosting === true && (await insist(context, find)) !== undefined) return;
    if (event.turnId !== undefined) await save(event.turnId, { ...record, isPosting: true });
    await insist(context, () => postComment(context, markedText(text, mark)), find);
  }

  async function conclude(context: PublishContext, ending: Ending, eyes: number | undefined): Promise<void> {
    if (ending !== "cancelled") await insist(context, () => react(context, ending === "completed" ? "+1" : "confused"));
    if (eyes !== undefined) await insist(context, () => unreact(context, eyes));
  }

  /** The commit's status, then the banner. */
  async function show(context: PublishContext, state: BannerState): Promise<void> {
    const { octokit, target } = context;
    const { owner, repo, sha, number } = target;
    if (commitStatus && sha !== undefined) {
      const status = { owner, repo, sha, context: `bdk/${botName}`, ...statusOf(state) };
      await attempt(context, "the commit status", () =>
        insist(context, () => octokit.rest.repos.createCommitStatus(status)),
      );
    }
    if (banner && number !== undefined) await attempt(context, "the banner", () => showBanner(context, state));
  }

  async function showBanner(context: PublishContext, state: BannerState): Promise<void> {
    const { octokit, target } = context;
    const { owner, repo } = target;
    const mark = markOf(`banner:${id}`);
    const body = markedText(bannerText(botName, state, target.sha), mark);
    const key = keys.banner(target);
    const known = (await kv.get(key)) as { readonly id?: number; readonly since: string } | undefined;
    const since = known?.since ?? new Date().toISOString();
    const { replyTo: _, ...beside } = target;
    const place = { ...context, target: beside };
    const find = () => findComment(place, mark, since);
    const comment_id = known === undefined ? undefined : (known.id ?? (await insist(place, find)));
    if (comment_id !== undefined) {
      await insist(context, () => octokit.rest.issues.updateComment({ owner, repo, comment_id, body }));
      return;
    }
    await kv.put(key, { since });
    const made = await insist(place, () => postComment(place, body), find);
    await kv.put(key, { since, ...(made !== undefined && { id: made }) });
  }

  async function open(target: Target): Promise<PublishContext | undefined> {
    try {
      return { octokit: await clientOf(target), target, signal, log };
    } catch (error) {
      log("error", `channel "${id}": ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  const save = (turnId: string, record: TurnRecord) => kv.put(keys.turn(turnId), record);

  return {
    async expect(conversation, target) {
      if (!isSilent) await kv.put(keys.target(conversation), target);
    },
    events: {
      "turn.started": begin,
      "message.completed": ({ turnId, data }) => {
        if (data.finishReason === "stop" && data.parentCallId === undefined && turnId !== undefined && deliverReplies) {
          replies.set(turnId, data.text);
        }
      },
      "action.approval_requested": async ({ turnId }) => {
        if (!shows || turnId === undefined) return;
        const record = (await kv.get(keys.turn(turnId))) as TurnRecord | undefined;
        const context = record && (await open(record.target));
        if (context !== undefined) await show(context, "parked");
      },
      "turn.completed": end,
      "turn.failed": end,
    },
  };
}

function endingOf(event: SessionEvent<"turn.completed" | "turn.failed">): Ending {
  if (event.type === "turn.completed") return "completed";
  return event.data.status === "cancelled" ? "cancelled" : "failed";
}

function textOf(result: JsonValue | undefined): string | undefined {
  if (typeof result === "string") return result.trim() === "" ? undefined : result;
  return result === undefined ? undefined : `\`\`\`json\n${JSON.stringify(result, undefined, 2)}\n\`\`\``;
}

const statuses = {
  running: { state: "pending", description: "working on it" },
  parked: { state: "pending", description: "waiting for an approval" },
  completed: { state: "success", description: "done" },
  failed: { state: "failure", description: "did not get to the end" },
  cancelled: { state: "error", description: "interrupted" },
} as const satisfies Readonly<Record<BannerState, unknown>>;

function statusOf(state: BannerState): (typeof statuses)[BannerState] {
  return statuses[state];
}
