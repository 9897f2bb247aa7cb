/** Tests fork the evaluation child and start emitted servers, so `dist/` has to be what the sources say. */
export default async function setup(): Promise<void> {
  const { buildAll } = await import("../scripts/build.mjs");
  await buildAll({
    names: [
      "cli",
      "authoring",
      "evaluate",
      "core",
      "loader",
      "model-xai",
      "model-openai",
      "model-anthropic",
      "model-openai-compatible",
      "prices",
      "json-schema",
      "workspace",
      "channels",
      "github",
      "slack",
      "webhook",
      "oidc",
      "rate-limit",
      "schedules",
      "connections",
      "reminders",
      "agent-tool",
    ],
  });
}
