import { useMemo } from "preact/hooks";
import type { WireEvent } from "../events.js";
import { type Span, timelineOf } from "../trace.js";

/** The session as a timeline: turns, the model's steps, calls, subagents, and how long people were waited for. */
export function TraceView({ events }: { readonly events: readonly WireEvent[] }) {
  const { spans, duration } = useMemo(() => timelineOf(events), [events]);
  if (spans.length === 0) return <p class="page note">Open a session to see its timeline.</p>;
  return (
    <div class="page">
      <table class="trace">
        <thead>
          <tr>
            <th>What</th>
            <th>When</th>
            <th>Took</th>
          </tr>
        </thead>
        <tbody>
          {spans.map((span) => (
            <Row key={span.key} span={span} duration={duration} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ span, duration }: { readonly span: Span; readonly duration: number }) {
  const { kind, label, depth, start, end, isFailed } = span;
  const share = (ms: number) => `${duration === 0 ? 0 : (ms / duration) * 100}%`;
  const took = (end ?? duration) - start;
  return (
    <tr>
      <td style={{ paddingLeft: `${depth}rem` }}>{label}</td>
      <td>
        <div class="lane">
          <div
            class={`bar ${kind} ${isFailed ? "failed" : ""}`}
            style={{ left: share(start), width: `max(2px, ${share(took)})` }}
          />
        </div>
      </td>
      <td>{end === undefined ? "…" : timeText(took)}</td>
    </tr>
  );
}

function timeText(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
