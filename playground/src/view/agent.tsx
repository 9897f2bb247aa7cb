import { useState } from "preact/hooks";
import type { AgentInfo, Named } from "../api.js";
import { type Endpoint, routesOf, toolEndpoint } from "../endpoints.js";
import { show } from "../events.js";
import { DevDispatch } from "./dev.js";
import { McpEndpoints } from "./mcp.js";
import { NextRun } from "./next-run.js";
import { TryDialog } from "./try.js";

const lists = [
  ["tools", "Tools"],
  ["skills", "Skills"],
  ["subagents", "Subagents"],
  ["mcpConnections", "Connections"],
  ["channels", "Channels"],
  ["schedules", "Schedules"],
  ["hooks", "Hooks"],
] as const;

/** What the bot consists of, as `GET /v1/info` tells it. */
export function AgentView({
  info,
  onOpen,
}: {
  readonly info: AgentInfo;
  readonly onOpen: (sessionId: string) => void;
}) {
  const [tried, setTried] = useState<Endpoint>();
  const endpoints = (list: string, name: string): readonly Endpoint[] => {
    if (list === "channels") return info.channels.filter((each) => each.name === name).flatMap(routesOf);
    // Tools that run in the workspace can't be called from outside.
    const tools = list === "tools" ? info.tools.filter((each) => each.name === name && each.execution !== "agent") : [];
    return tools.map(toolEndpoint);
  };
  return (
    <div class="page">
      {tried === undefined ? null : (
        <TryDialog key={tried.key} endpoint={tried} onClose={() => setTried(undefined)} onOpen={onOpen} />
      )}
      <h2>{info.name}</h2>
      {typeof info.description === "string" ? <p>{info.description}</p> : null}
      <p class="note">
        Model {info.model.id ?? "from the environment"} · instructions of {info.instructions.chars ?? "unknown"}{" "}
        characters
      </p>
      {info.diagnostics.map((each) => (
        <p class="failure" key={each.code + each.message}>
          {each.code}: {each.message}
        </p>
      ))}
      {lists.map(([key, title]) => (
        <section key={key}>
          <h3>
            {title} <span class="count">{info[key].length}</span>
          </h3>
          {info[key].map((entry) => (
            <Entry key={entry.name} entry={entry} endpoints={endpoints(key, entry.name)} onTry={setTried} />
          ))}
        </section>
      ))}
      <McpEndpoints />
      <DevDispatch schedules={info.schedules} onOpen={onOpen} />
    </div>
  );
}

interface EntryProps {
  readonly entry: Named;
  readonly endpoints: readonly Endpoint[];
  readonly onTry: (endpoint: Endpoint) => void;
}

function Entry({ entry, endpoints, onTry }: EntryProps) {
  const { name, description, ...rest } = entry;
  return (
    <details class="entry">
      <summary>
        <code>{name}</code> <span>{typeof description === "string" ? description.split("\n")[0] : ""}</span>
        {typeof rest.next === "string" ? <NextRun at={rest.next} cron={String(rest.cron)} /> : null}
      </summary>
      {endpoints.map((endpoint) => (
        <p key={endpoint.key}>
          <button type="button" onClick={() => onTry(endpoint)}>
            Try
          </button>{" "}
          <code>
            {endpoint.method} {endpoint.path}
          </code>
        </p>
      ))}
      <pre>{show(rest)}</pre>
    </details>
  );
}
