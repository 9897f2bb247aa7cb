import { useRef, useState } from "preact/hooks";
import { type SlashCommand, usageOf } from "../endpoints.js";

interface ComposerProps {
  readonly isRunning: boolean;
  readonly isEnded: boolean;
  readonly commands: readonly SlashCommand[];
  readonly onSend: (message: string) => Promise<void>;
  readonly onStop: () => void;
}

/**
 * Where messages are written. Enter sends, Shift+Enter makes a new line. Behind a slash the commands that fit are listed:
 * Tab or Enter takes the marked one.
 */
export function Composer({ isRunning, isEnded, commands, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const [marked, setMarked] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const typed = /^\/(\S*)$/.exec(text)?.[1];
  const offered =
    typed === undefined
      ? []
      : [
          ...commands.map((each) => ({
            name: each.name,
            usage: usageOf(each),
            description: each.endpoint.description ?? "",
          })),
          { name: "help", usage: "/help", description: "Lists the commands" },
        ].filter(({ name }) => name.startsWith(typed) && name !== typed);
  const take = (name: string) => {
    setText(`/${name} `);
    setMarked(0);
    field.current?.focus();
  };
  const submit = async () => {
    const message = text.trim();
    if (message === "" || isSending) return;
    setSending(true);
    try {
      await onSend(message);
      setText("");
    } finally {
      setSending(false);
      field.current?.focus();
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {offered.length === 0 ? null : (
        <ul class="commands" id="commands" aria-label="Commands">
          {offered.map(({ name, usage, description }, index) => (
            <li key={name}>
              <button type="button" class={index === marked ? "command marked" : "command"} onClick={() => take(name)}>
                <code>{usage}</code> <span class="note">{description}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <label class="hidden" for="message">
        Message
      </label>
      <textarea
        id="message"
        ref={field}
        rows={2}
        placeholder={isEnded ? "This session takes no further messages" : "Write a message"}
        disabled={isEnded}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setMarked(0);
        }}
        aria-controls={offered.length > 0 ? "commands" : undefined}
        onKeyDown={(event) => {
          const chosen = offered[marked];
          if (chosen !== undefined && (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey))) {
            event.preventDefault();
            take(chosen.name);
            return;
          }
          if (chosen !== undefined && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
            event.preventDefault();
            const step = event.key === "ArrowDown" ? 1 : offered.length - 1;
            setMarked((marked + step) % offered.length);
            return;
          }
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void submit();
        }}
      />
      {isRunning ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : null}
      <button type="submit" class="primary" disabled={isEnded || isSending || text.trim() === ""}>
        Send
      </button>
    </form>
  );
}
