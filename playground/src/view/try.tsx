import { useEffect, useRef, useState } from "preact/hooks";
import { type Invoked, invoke, urlOf } from "../api.js";
import { type Endpoint, exampleBody } from "../endpoints.js";
import { show } from "../events.js";

interface TryProps {
  readonly endpoint: Endpoint;
  readonly onClose: () => void;
  /** Opens a session that the endpoint has made. */
  readonly onOpen: (sessionId: string) => void;
}

const bodyKey = ({ key }: Endpoint) => `bdk-try:${location.pathname}:${key}`;

/** Invokes an endpoint by hand. The last body of each is remembered in this browser. */
export function TryDialog({ endpoint, onClose, onOpen }: TryProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [path, setPath] = useState(endpoint.path);
  const [text, setText] = useState(() => localStorage.getItem(bodyKey(endpoint)) ?? show(exampleBody(endpoint.schema)));
  const [answer, setAnswer] = useState<Invoked>();
  const [problem, setProblem] = useState<string>();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  /** The body as it is sent; throws for a text that is no JSON. */
  const read = (): unknown => {
    const given: unknown = text.trim() === "" ? {} : JSON.parse(text);
    return endpoint.wrap === undefined ? given : { [endpoint.wrap]: given };
  };
  const attempt = async (action: () => Promise<void>) => {
    try {
      await action();
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const send = () =>
    attempt(async () => {
      const body = read();
      localStorage.setItem(bodyKey(endpoint), text);
      const answered = await invoke(endpoint.method, path, body);
      setAnswer(answered);
    });
  const copy = () =>
    attempt(async () => {
      await navigator.clipboard.writeText(curlOf(endpoint.method, urlOf(path), read()));
      setCopied(true);
    });

  return (
    <dialog ref={dialog} onClose={onClose} aria-label={`Try ${endpoint.method} ${endpoint.path}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <h2>
          {endpoint.method} <code>{endpoint.path}</code>
        </h2>
        {endpoint.description === undefined ? null : <p>{endpoint.description}</p>}
        {endpoint.path.includes(":") ? (
          <label>
            Path
            <input class="field" value={path} onInput={(event) => setPath(event.currentTarget.value)} />
          </label>
        ) : null}
        <label>
          {endpoint.method === "GET" ? "Query, as JSON" : "Body, as JSON"}
          <textarea
            class="field"
            rows={8}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <div class="actions">
          <button type="submit" class="primary">
            Send
          </button>
          <button type="button" onClick={copy}>
            {isCopied ? "Copied" : "Copy curl"}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
        {problem === undefined ? null : <p role="alert">{problem}</p>}
        {answer === undefined ? null : <Answer answer={answer} onOpen={onOpen} />}
      </form>
    </dialog>
  );
}

function Answer({ answer: { status, text, sessionId }, onOpen }: { answer: Invoked; onOpen: TryProps["onOpen"] }) {
  return (
    <section aria-label="Answer">
      <p class={status < 400 ? "note" : "failure"}>Status {status}</p>
      <pre>{pretty(text)}</pre>
      {sessionId === undefined ? null : (
        <button type="button" onClick={() => onOpen(sessionId)}>
          Open session
        </button>
      )}
    </section>
  );
}

function pretty(text: string): string {
  try {
    return show(JSON.parse(text));
  } catch {
    return text; // not every route answers JSON
  }
}

/** The request for a shell. The token is left for the person to fill in. */
function curlOf(method: string, url: string, body: unknown): string {
  const quoted = (value: string) => `'${value.replaceAll("'", "'\\''")}'`;
  if (method === "GET") {
    const query = Object.entries(typeof body === "object" && body !== null ? body : {});
    const fields = query.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${show(value)}`)}`);
    return ["curl -G", ...fields, quoted(url)].join(" ");
  }
  return `curl -X ${method} ${quoted(url)} -H 'content-type: application/json' -d ${quoted(JSON.stringify(body))}`;
}
