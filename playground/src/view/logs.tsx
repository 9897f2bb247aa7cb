import { useEffect, useState } from "preact/hooks";
import { fetchLogs, type LogLine } from "../api.js";

/** Milliseconds between polls. */
const interval = 1_500;
const kept = 1_000;

/** Recent lines of the server's log, polled while the tab is open. */
export function LogsView() {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isGone = false;
    let timer: ReturnType<typeof setTimeout>;
    let after = 0;
    const poll = async () => {
      try {
        const page = await fetchLogs(after);
        if (isGone) return;
        after = page.next;
        if (page.lines.length > 0) setLines((before) => [...before, ...page.lines].slice(-kept));
        setProblem(undefined);
      } catch (error) {
        if (!isGone) setProblem(error instanceof Error ? error.message : String(error));
      }
      if (!isGone) timer = setTimeout(poll, interval);
    };
    void poll();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, []);
  return (
    <div class="page" role="log" aria-label="Server log">
      {problem === undefined ? null : <p role="alert">{problem}</p>}
      {lines.length === 0 ? <p class="note">Nothing logged yet.</p> : null}
      {lines.map((line) => (
        <p key={line.seq} class={`log ${line.level}`}>
          <time dateTime={line.at}>{line.at.slice(11, 23)}</time> <b>{line.level}</b> {line.message}
        </p>
      ))}
    </div>
  );
}
