import { useEffect, useState } from "preact/hooks";
import {
  type AgentInfo,
  ApiError,
  createSession,
  fetchInfo,
  invoke,
  readToken,
  sendFollowUp,
  stopTurn,
  writeToken,
} from "./api.js";
import { commandsOf, readCommand, usageOf } from "./endpoints.js";
import { useSession } from "./use-session.js";
import { AgentView } from "./view/agent.js";
import { Composer } from "./view/composer.js";
import { LogsView } from "./view/logs.js";
import { RawView } from "./view/raw.js";
import { SessionList } from "./view/session-list.js";
import { TraceView } from "./view/trace.js";
import { TranscriptView } from "./view/transcript.js";

const tabs = ["Chat", "Trace", "Raw", "Agent", "Logs"] as const;
type Tab = (typeof tabs)[number];

/** The session named in the address, so that a link opens it. */
function sessionOfAddress(): string | undefined {
  return new URLSearchParams(location.search).get("sessionId") ?? undefined;
}

export function App() {
  const [tab, setTab] = useState<Tab>("Chat");
  const [sessionId, setSessionId] = useState(sessionOfAddress);
  const [token, setToken] = useState(readToken);
  const [info, setInfo] = useState<AgentInfo>();
  const [problem, setProblem] = useState<string>();
  const [notice, setNotice] = useState<string>();
  const session = useSession(sessionId, token);

  useEffect(() => {
    const onBack = () => setSessionId(sessionOfAddress());
    addEventListener("popstate", onBack);
    return () => removeEventListener("popstate", onBack);
  }, []);
  // A changed token is a reason to ask again.
  useEffect(() => {
    fetchInfo().then(
      (found) => {
        setInfo(found);
        setProblem(undefined);
        document.title = `${found.name} · Playground`;
      },
      (error: unknown) => {
        const isLocked = error instanceof ApiError && error.status === 401;
        setProblem(
          isLocked
            ? "This server wants a token: paste it above."
            : String(error instanceof Error ? error.message : error),
        );
      },
    );
  }, [token]);

  const open = (id: string | undefined) => {
    if (id !== sessionId)
      history.pushState(null, "", id === undefined ? location.pathname : `?sessionId=${encodeURIComponent(id)}`);
    setSessionId(id);
    setNotice(undefined);
    setTab("Chat");
  };
  const commands = info === undefined ? [] : commandsOf(info);
  const attempt = async (action: () => Promise<unknown>) => {
    try {
      await action();
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      throw error;
    }
  };
  const send = (message: string) =>
    attempt(async () => {
      setNotice(undefined);
      const asked = readCommand(message, commands);
      if (asked === "help") {
        setNotice(
          [...commands.map((each) => `${usageOf(each)}  ${each.endpoint.description ?? ""}`.trimEnd()), "/help"].join(
            "\n",
          ),
        );
      } else if (asked !== undefined) {
        const { endpoint } = asked.command;
        const answer = await invoke(endpoint.method, endpoint.path, asked.body);
        if (answer.sessionId !== undefined && answer.status < 400) open(answer.sessionId);
        else setNotice(`${endpoint.method} ${endpoint.path}: ${answer.status}\n${answer.text}`);
      } else if (sessionId === undefined) open(await createSession(message));
      else await sendFollowUp(sessionId, message);
    });
  const { transcript } = session;
  const shownProblem = problem ?? session.problem;

  return (
    <div class="app">
      <header>
        <h1>{info?.name ?? "Playground"}</h1>
        <div role="tablist" aria-label="Views">
          {tabs.map((each) => (
            <button key={each} type="button" role="tab" aria-selected={tab === each} onClick={() => setTab(each)}>
              {each}
            </button>
          ))}
        </div>
        <form class="token" onSubmit={(event) => event.preventDefault()}>
          <label>
            Token
            <input
              type="password"
              autocomplete="off"
              value={token}
              onChange={(event) => {
                writeToken(event.currentTarget.value);
                setToken(event.currentTarget.value);
              }}
            />
          </label>
        </form>
      </header>
      {shownProblem === undefined ? null : (
        <p class="problem" role="alert">
          {shownProblem}
        </p>
      )}
      <div class="body">
        <SessionList current={sessionId} revision={`${token} ${sessionId} ${transcript.status}`} onOpen={open} />
        <main>
          <div class="panel" role="tabpanel" aria-label={tab}>
            {tab === "Chat" ? (
              <>
                {sessionId === undefined ? (
                  <Welcome info={info} />
                ) : (
                  <TranscriptView transcript={transcript} sessionId={sessionId} />
                )}
                {notice === undefined ? null : (
                  <pre class="notice" role="status">
                    {notice}
                  </pre>
                )}
                <p class="facts">{sessionId === undefined ? "" : factsOf(transcript)}</p>
                <Composer
                  commands={commands}
                  isRunning={sessionId !== undefined && transcript.status === "running"}
                  isEnded={sessionId !== undefined && transcript.status === "ended"}
                  onSend={(message) => send(message).catch(() => undefined)}
                  onStop={() => {
                    if (sessionId !== undefined) void attempt(() => stopTurn(sessionId)).catch(() => undefined);
                  }}
                />
              </>
            ) : null}
            {tab === "Agent" && info !== undefined ? <AgentView info={info} onOpen={open} /> : null}
            {tab === "Trace" ? <TraceView events={session.events} /> : null}
            {tab === "Raw" ? <RawView events={session.events} /> : null}
            {tab === "Logs" ? <LogsView /> : null}
          </div>
        </main>
      </div>
    </div>
  );
}

function Welcome({ info }: { readonly info: AgentInfo | undefined }) {
  return (
    <div class="transcript welcome">
      <p>{typeof info?.description === "string" ? info.description : "Write a message to open a session."}</p>
      {info === undefined || info.tools.length === 0 ? null : (
        <p class="note">Tools: {info.tools.map((each) => each.name).join(", ")}</p>
      )}
    </div>
  );
}

function factsOf({ model, tokens, costUsd }: ReturnType<typeof useSession>["transcript"]): string {
  const cost = costUsd === undefined ? "" : ` · $${costUsd.toFixed(4)}`;
  return `${model ?? ""} · ${tokens.input} tokens in, ${tokens.output} out${cost}`;
}
