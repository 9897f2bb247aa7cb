/** `bot/instructions.ts`, and files of `bot/instructions/`. */

/** A system prompt, or a part of one. */
export interface InstructionsConfig {
  readonly markdown: string;
}

/** What `defineInstructions` returns. */
export type InstructionsDefinition = InstructionsConfig & { readonly __agentServe: "instructions" };

/**
 * Computes the always-on system prompt.
 *
 * @example export default defineInstructions({ markdown: `You are on call for ${process.env.TEAM_NAME}.` });
 */
export function defineInstructions(config: InstructionsConfig): InstructionsDefinition {
  return { ...config, __agentServe: "instructions" };
}
