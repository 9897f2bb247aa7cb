import { useRef, useState } from "preact/hooks";

interface ComposerProps {
  readonly isRunning: boolean;
  readonly isEnded: boolean;
  readonly onSend: (message: string) => Promise<void>;
  readonly onStop: () => void;
}

/** Where messages are written. Enter sends, Shift+Enter makes a new line. */
export function Composer({ isRunning, isEnded, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
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
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
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
