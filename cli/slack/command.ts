import { defineCommand } from "../command.js";
import { dir, json, slug } from "../options.js";

/** `bdk slack <action>`. */
export const slackCommand = defineCommand({
  group: "Make",
  summary: "Print the manifest of the Slack app that a channel needs",
  arguments: [{ name: "action", required: true, summary: "manifest" }],
  options: {
    dir,
    slug,
    channel: { kind: "text", value: "name", summary: "The Slack channel that is meant, where there are several" },
    prefix: { kind: "text", value: "name", summary: "The Slack channel with this envPrefix" },
    "request-url": {
      kind: "text",
      value: "url",
      summary: "Where Slack reaches the agent over HTTPS; without it the app uses Socket Mode",
    },
    json,
  },
  examples: [
    { command: "bdk slack manifest > slack.yaml", summary: "For an app that calls Slack: no public address needed" },
    {
      command: "bdk slack manifest --request-url https://bots.example.com/my-agent --json",
      summary: "For an app that Slack calls, as JSON",
    },
  ],
  notes: ["The manifest is on stdout; what to do with it, and which variables to set, on stderr."],
});
