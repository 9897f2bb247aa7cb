/** What a running host's handle can be asked for besides its URL: schedules and reminders, by name or id. */
import type { ReminderCreate, ReminderInfo } from "../authoring/host.js";
import { RuntimeError } from "../errors.js";
import type { DispatchedReminder } from "../reminders/contract.js";
import type { Dispatched } from "../schedules/contract.js";
import type { ServedAgent } from "./agent.js";

/** The part of a handle that reaches into agents. */
export interface ByHand {
  /**
   * Fires a schedule by hand, once, through the path that the clock uses. Resolves when a `run` handler is done, or when
   * a prompt's session has begun; throws `RuntimeError` `not_found`, or `internal` when the run fails.
   *
   * @param slug which agent's, when several have one of that name
   */
  dispatchSchedule(scheduleId: string, slug?: string): Promise<Dispatched>;
  /**
   * Arms a reminder of a conversation that exists; on disk when it resolves. Throws `RuntimeError` `not_found` for an
   * unknown conversation, `unknown_handler`, or `invalid_request`.
   *
   * @param slug which agent's; needed when the host serves several
   * @example await handle.createReminder({ purpose: "ci", channelId: "drive", continuationToken: "pr:1", delay: "2h", prompt: "Look again." })
   */
  createReminder(reminder: ReminderCreate, slug?: string): Promise<ReminderInfo>;
  /** Those of one agent, or of all; soonest first. */
  listReminders(slug?: string): Promise<readonly ReminderInfo[]>;
  /** False when there is none of that id. */
  cancelReminder(id: string): Promise<boolean>;
  /** Fires a reminder by hand, once, as the clock would. Throws `RuntimeError` `not_found`, or `internal` when its handler fails. */
  dispatchReminder(id: string): Promise<DispatchedReminder>;
}

export function byHand(agents: () => readonly ServedAgent[]): ByHand {
  const of = (slug: string | undefined) => agents().filter((agent) => (slug ?? agent.slug) === agent.slug);

  async function ownerOf(id: string): Promise<ServedAgent | undefined> {
    for (const agent of agents()) if (await agent.reminders.has(id)) return agent;
    return undefined;
  }

  return {
    async dispatchSchedule(scheduleId, slug) {
      const found = of(slug).filter(({ generation }) =>
        generation.agent.schedules.some(({ name }) => name === scheduleId),
      );
      const agent = requireOne(
        found,
        `no schedule named "${scheduleId}"`,
        `several agents have a schedule "${scheduleId}"`,
      );
      return agent.schedules.dispatch(scheduleId);
    },
    async createReminder(reminder, slug) {
      const agent = requireOne(of(slug), `no agent "${slug}"`, "this host serves several agents");
      return agent.reminders.api(undefined).create(reminder);
    },
    async listReminders(slug) {
      const lists = await Promise.all(of(slug).map(({ reminders }) => reminders.api(undefined).list()));
      return lists.flat().sort((left, right) => Date.parse(left.nextAt) - Date.parse(right.nextAt));
    },
    async cancelReminder(id) {
      return (await ownerOf(id))?.reminders.api(undefined).cancel(id) ?? false;
    },
    async dispatchReminder(id) {
      const agent = await ownerOf(id);
      if (agent === undefined) throw new RuntimeError("not_found", `there is no reminder ${id}`);
      return agent.reminders.dispatch(id);
    },
  };
}

function requireOne(found: readonly ServedAgent[], none: string, several: string): ServedAgent {
  const [agent] = found;
  if (agent === undefined) throw new RuntimeError("not_found", none);
  if (found.length === 1) return agent;
  const slugs = found.map(({ slug }) => slug).join(", ");
  throw new RuntimeError("invalid_request", `${several}: ${slugs}; name one`);
}
