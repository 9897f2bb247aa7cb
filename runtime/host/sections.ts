/**
 * Optional parts of the runtime. `server.mjs` links only those its manifest needs, each as a function that runs on
 * first use; `bdk serve` and `bdk dev` load them from the package's own dist folder. Decision 41.
 */
export type SectionName =
  | "model-xai"
  | "model-openai"
  | "model-anthropic"
  | "model-openai-compatible"
  | "prices"
  | "json-schema"
  | "workspace"
  | "channels"
  | "github"
  | "slack"
  | "webhook"
  | "oidc"
  | "rate-limit"
  | "schedules"
  | "connections"
  | "reminders";

/** Section name → loader of its module. A missing key: the section was not linked. */
export type Sections = { readonly [K in SectionName]?: () => unknown };
