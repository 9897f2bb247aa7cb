/** Options that several commands share: the same name means the same thing everywhere. */

export const dir = {
  kind: "text",
  value: "path",
  default: ".",
  summary: "Project folder, or a folder of several projects",
} as const;
export const json = { kind: "flag", summary: "Print JSON on stdout; everything else goes to stderr" } as const;
export const slug = { kind: "text", value: "slug", summary: "Which agent, when there are several" } as const;
export const model = {
  kind: "text",
  value: "id",
  summary: "Use this model for every agent: offline, grok-4.5, openai/<id>, anthropic/<id>",
} as const;
export const bearerToken = {
  kind: "text",
  value: "secret",
  summary: "Require this bearer token instead of the loopback policy",
} as const;
export const stateRoot = {
  kind: "text",
  value: "path",
  summary: "Where sessions and traces live (default <dir>/.bdk)",
} as const;
export const url = {
  kind: "text",
  value: "url",
  summary: "Talk to this running server instead of starting one",
} as const;

/** Where sessions are read from. */
export const stored = {
  dir,
  slug,
  url: { ...url, summary: "Ask this running server" },
  "bearer-token": { ...bearerToken, summary: "Token to send to the server (or BDK_BEARER_TOKEN)" },
  "state-root": stateRoot,
} as const;

export const server = {
  dir,
  port: {
    kind: "integer",
    value: "number",
    min: 0,
    max: 65_535,
    summary: "Port to listen on, 0 for any free one (default 3000, or PORT)",
  },
  host: { kind: "text", value: "address", summary: "Address to listen on (default 127.0.0.1, or HOST)" },
  mode: {
    kind: "choice",
    values: ["multi", "single"],
    summary: "multi mounts each agent at /<slug>; single serves one at / (default multi)",
  },
  "state-root": stateRoot,
  "bearer-token": { ...bearerToken, summary: `${bearerToken.summary} (or BDK_BEARER_TOKEN)` },
  "operator-token": {
    kind: "text",
    value: "secret",
    summary: "Token that may settle approvals of any session (or BDK_OPERATOR_TOKEN)",
  },
  "allow-anonymous": { kind: "flag", summary: "Admit everyone; only for demos on trusted networks" },
  model,
  "public-url": {
    kind: "text",
    value: "url",
    summary: "Base of the playground and trace URLs that the server hands out",
  },
  "trust-proxy": { kind: "flag", summary: "Believe X-Forwarded-… headers: a proxy of yours stands in front" },
  "cors-origin": { kind: "texts", value: "origin", summary: "Let pages of this origin call the API" },
  "tls-cert": { kind: "text", value: "file", summary: "Speak HTTPS with this certificate (PEM, with its chain)" },
  "tls-key": { kind: "text", value: "file", summary: "The certificate's private key (PEM)" },
  "rate-limit": {
    kind: "integer",
    value: "number",
    min: 1,
    max: 1_000_000,
    summary: "Most requests a minute for each principal; 429 past them",
  },
  playground: { kind: "off", summary: "Leave out the playground and the index of agents" },
  docs: { kind: "off", summary: "Leave out the documentation site" },
  schedules: { kind: "off", summary: "Never fire schedules" },
  "hosted-channels": { kind: "flag", summary: "Answer channel routes with 202 and an empty body, at once" },
  json,
} as const;
