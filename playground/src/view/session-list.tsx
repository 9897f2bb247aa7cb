import { useCallback, useEffect, useState } from "preact/hooks";
import { listSessions, type SessionSummary } from "../api.js";

interface SessionListProps {
  readonly current: string | undefined;
  /** Changes when the list may have changed. */
  readonly revision: string;
  readonly onOpen: (sessionId: string | undefined) => void;
}

const clock = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

/** Sessions of the caller, newest first, with a filter by title and id. */
export function SessionList({ current, revision, onOpen }: SessionListProps) {
  const [sessions, setSessions] = useState<readonly SessionSummary[]>([]);
  const [cursor, setCursor] = useState<string>();
  const [filter, setFilter] = useState("");
  const [problem, setProblem] = useState<string>();

  const load = useCallback(async (from?: string) => {
    try {
      const page = await listSessions(from);
      setSessions((before) => (from === undefined ? page.sessions : [...before, ...page.sessions]));
      setCursor(page.nextCursor);
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }, []);
  // The revision says that the list may have changed.
  useEffect(() => void load(), [load, revision]);

  const wanted = filter.trim().toLowerCase();
  const shown = sessions.filter((each) => `${each.title ?? ""} ${each.id}`.toLowerCase().includes(wanted));
  return (
    <aside class="sessions" aria-label="Sessions">
      <button type="button" class="primary" onClick={() => onOpen(undefined)}>
        New session
      </button>
      <input
        type="search"
        aria-label="Filter sessions by title or id"
        placeholder="Filter, or open an id with Enter"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && /^ses_\w+$/.test(filter.trim())) onOpen(filter.trim());
        }}
      />
      {problem === undefined ? null : <p role="alert">{problem}</p>}
      <ul>
        {shown.map((each) => (
          <li key={each.id}>
            <button type="button" aria-current={each.id === current} onClick={() => onOpen(each.id)}>
              <span class="title">{each.title ?? each.id}</span>
              <span class="facts">
                {each.status.replace("_", " ")} · {each.channelId} · {clock.format(new Date(each.updatedAt))}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {shown.length === 0 ? <p class="note">No sessions yet.</p> : null}
      {cursor === undefined ? null : (
        <button type="button" onClick={() => load(cursor)}>
          Show more
        </button>
      )}
    </aside>
  );
}
