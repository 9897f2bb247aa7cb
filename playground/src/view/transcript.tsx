import { useEffect, useRef } from "preact/hooks";
import type { Item, Transcript } from "../fold.js";
import { Markdown } from "../markdown.js";
import { ToolCall } from "./tool-call.js";

/** The conversation. It keeps to the end while new text arrives, unless the reader has scrolled up. */
export function TranscriptView({
  transcript,
  sessionId,
}: {
  readonly transcript: Transcript;
  readonly sessionId: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = box.current;
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
  });
  const onScroll = () => {
    const element = box.current;
    if (element !== null) isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 48;
  };
  return (
    <div class="transcript" ref={box} onScroll={onScroll} role="log" aria-label="Conversation">
      {transcript.items.map((item) => (
        <ItemView key={item.key} item={item} sessionId={sessionId} />
      ))}
      {transcript.status === "running" ? (
        <p class="note working">{isParked(transcript) ? "Waiting for a decision…" : "Working…"}</p>
      ) : null}
    </div>
  );
}

function isParked({ items }: Transcript): boolean {
  return items.some((each) => each.kind === "call" && each.approval === "asked" && each.state === "running");
}

function ItemView({ item, sessionId }: { readonly item: Item; readonly sessionId: string }) {
  switch (item.kind) {
    case "user":
      return <div class="user">{item.text}</div>;
    case "reasoning":
      return (
        <details class="reasoning" open={item.isOpen}>
          <summary>{item.isOpen ? "Thinking…" : "Thought"}</summary>
          <p>{item.text}</p>
        </details>
      );
    case "reply":
      return (
        <div class={item.parentCallId === undefined ? "reply" : "reply nested"}>
          <Markdown text={item.text} />
        </div>
      );
    case "call":
      return (
        <div class={item.parentCallId === undefined ? "" : "nested"}>
          <ToolCall call={item} sessionId={sessionId} />
        </div>
      );
    case "failure":
      return (
        <p class={item.isCancelled ? "note" : "failure"} role={item.isCancelled ? undefined : "alert"}>
          {item.isCancelled ? `Stopped: ${item.text}` : item.text}
        </p>
      );
  }
}
