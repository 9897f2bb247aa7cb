import { defineCommand } from "../command.js";
import { bearerToken, dir, json, model, slug, stateRoot, url } from "../options.js";

export const githubCommand = defineCommand({
  group: "Run",
  summary: "Deliver a webhook of GitHub's to the agent once more",
  arguments: [
    { name: "action", required: true, summary: "replay" },
    { name: "source", required: true, summary: "payload.json, -, a URL, owner/repo#42, or a pull request's address" },
  ],
  options: {
    dir,
    url,
    slug,
    channel: { kind: "text", value: "name", summary: "The GitHub channel that is meant, where there are several" },
    event: { kind: "text", value: "name", summary: "X-GitHub-Event, when the payload does not tell it" },
    prefix: {
      kind: "text",
      value: "name",
      summary: "The channel's envPrefix: NAME reads NAME_GITHUB_TOKEN and so on",
    },
    "dry-run": { kind: "flag", summary: "Say nothing on GitHub, stub write tools, run no task" },
    model,
    "bearer-token": { ...bearerToken, summary: "Token to send to the server (or BDK_BEARER_TOKEN)" },
    "state-root": stateRoot,
    json,
  },
  examples: [
    { command: "bdk github replay opened.json --dry-run", summary: "What the agent makes of a recorded payload" },
    {
      command: "bdk github replay https://github.com/acme/checkout/pull/42",
      summary: "As if the pull request had just been opened; it is read with GITHUB_TOKEN",
    },
  ],
  notes: ["Signed with GITHUB_WEBHOOK_SECRET when it is set. Exit codes as bdk run's; 0 too when nothing came of it."],
});
