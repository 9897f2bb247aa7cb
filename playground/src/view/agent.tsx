import type { AgentInfo, Named } from "../api.js";
import { show } from "../events.js";

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
export function AgentView({ info }: { readonly info: AgentInfo }) {
  return (
    <div class="page">
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
            <Entry key={entry.name} entry={entry} />
          ))}
        </section>
      ))}
    </div>
  );
}

function Entry({ entry }: { readonly entry: Named }) {
  const { name, description, ...rest } = entry;
  return (
    <details class="entry">
      <summary>
        <code>{name}</code> <span>{typeof description === "string" ? description.split("\n")[0] : ""}</span>
      </summary>
      <pre>{show(rest)}</pre>
    </details>
  );
}
