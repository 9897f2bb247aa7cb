import { useCallback, useEffect, useState } from "preact/hooks";
import { dispatchReminder, dispatchSchedule, fetchReminders, type Named, type Reminder } from "../api.js";
import { show } from "../events.js";

/** Under `--dev` nothing fires by itself: schedules and reminders are run from here. Shows nothing on other servers. */
export function DevDispatch({
  schedules,
  onOpen,
}: {
  readonly schedules: readonly Named[];
  readonly onOpen: (sessionId: string) => void;
}) {
  const [reminders, setReminders] = useState<readonly Reminder[]>();
  const [problem, setProblem] = useState<string>();
  const load = useCallback(() => fetchReminders().then(setReminders, tell), []);
  function tell(error: unknown): void {
    setProblem(error instanceof Error ? error.message : String(error));
  }
  useEffect(() => void load(), [load]);
  const attempt = (action: () => Promise<unknown>) => {
    setProblem(undefined);
    action().then(load).catch(tell);
  };
  if (reminders === undefined || (reminders.length === 0 && schedules.length === 0)) return null;
  return (
    <section aria-label="Run by hand">
      <h3>Run by hand</h3>
      {problem === undefined ? null : <p role="alert">{problem}</p>}
      {schedules.map(({ name }) => (
        <p key={name}>
          <button
            type="button"
            onClick={() =>
              attempt(async () => {
                const [first] = (await dispatchSchedule(name)).sessionIds;
                if (first !== undefined) onOpen(first);
              })
            }
          >
            Run {name}
          </button>
        </p>
      ))}
      {reminders.map(({ id, ...rest }) => (
        <details class="entry" key={id}>
          <summary>
            <code>{id}</code>{" "}
            <button type="button" onClick={() => attempt(() => dispatchReminder(id))}>
              Fire
            </button>
          </summary>
          <pre>{show(rest)}</pre>
        </details>
      ))}
    </section>
  );
}
