import { sectionNames } from "../compiler/emit/sections.js";

/** Tests fork the evaluation child and start emitted servers, so `dist/` has to be what the sources say. */
export default async function setup(): Promise<void> {
  const { buildAll } = await import("../scripts/build.mjs");
  await buildAll({
    names: ["cli", "authoring", "evaluate", "core", "loader", "agent-tool", ...sectionNames],
  });
}
