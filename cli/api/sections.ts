import type { Sections } from "../../runtime/host/sections.js";

/** All optional parts of the runtime, each loaded on first use: what `bdk serve` and `bdk dev` run with. */
export const allSections: Required<Sections> = {
  "model-xai": () => import("../../runtime/harness/models/xai.js"),
  "model-openai": () => import("../../runtime/harness/models/openai.js"),
  "model-anthropic": () => import("../../runtime/harness/models/anthropic.js"),
  "model-openai-compatible": () => import("../../runtime/harness/models/openai-compatible.js"),
  prices: () => import("../../runtime/harness/models/prices.js"),
  "json-schema": () => import("../../runtime/tools/json-schema.js"),
  workspace: () => import("../../runtime/workspace/tools/index.js"),
  channels: () => import("../../runtime/channels/index.js"),
  github: () => import("../../runtime/channels/github/index.js"),
  webhook: () => import("../../runtime/channels/webhook/index.js"),
  slack: () => import("../../runtime/channels/slack/index.js"),
  oidc: () => import("../../runtime/auth/oidc/index.js"),
  "rate-limit": () => import("../../runtime/http/rate-limit/index.js"),
  schedules: () => import("../../runtime/schedules/index.js"),
  connections: () => import("../../runtime/connections/index.js"),
  reminders: () => import("../../runtime/reminders/index.js"),
};
