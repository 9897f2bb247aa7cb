import { defineCommand } from "../command.js";
import { dir, json, slug, stateRoot } from "../options.js";

/** `bdk mcp`: logins of connections with `oauth: true`. */
export const mcpCommand = defineCommand({
  group: "Run",
  summary: "Log in to MCP servers, and list or end logins",
  arguments: [
    { name: "action", required: false, summary: "list (default), oauth or logout" },
    { name: "name", required: false, summary: "The connection to log in to, or out of" },
  ],
  options: {
    dir,
    slug,
    "state-root": stateRoot,
    scope: { kind: "text", value: "scopes", summary: "oauth: scopes to ask for (default: what the server asks for)" },
    "client-id": {
      kind: "text",
      value: "id",
      summary: "oauth: a client that you registered yourself; its secret is read from MCP_OAUTH_CLIENT_SECRET",
    },
    "client-metadata-url": {
      kind: "text",
      value: "url",
      summary: "oauth: a client metadata document, for servers that take one as the client's id",
    },
    port: {
      kind: "integer",
      value: "number",
      min: 0,
      max: 65_535,
      default: 0,
      summary: "oauth: loopback port that the login comes back to; 0 takes any free one",
    },
    timeout: {
      kind: "integer",
      value: "seconds",
      min: 1,
      max: 86_400,
      default: 300,
      summary: "oauth: how long to wait for the login",
    },
    browser: { kind: "off", summary: "oauth: print the page's address only" },
    json,
  },
  examples: [
    { command: "bdk mcp", summary: "Connections with oauth: true, and who is logged in" },
    { command: "bdk mcp oauth linear", summary: "Log in: opens the server's page, and stores its tokens" },
    { command: "bdk mcp oauth linear --no-browser --port 7777", summary: "Over ssh -L 7777:127.0.0.1:7777" },
    { command: "bdk mcp logout linear", summary: "Take the tokens back and forget them" },
  ],
  notes: [
    "Tokens are kept in <state-root>/.oauth, readable by you alone, renewed by the server when they are used, and never printed.",
    "Without a terminal, or with --json, no browser is opened; --json prints one event a line: authorize, logged-in.",
    "Where no browser is opened, the address that one on another machine ended at is read from stdin.",
  ],
});
