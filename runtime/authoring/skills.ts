/** `bot/skills/<name>.ts`: a procedure that the model loads when it needs it. */

/** A skill, in code. Most skills are better written as `<name>.md` or `<name>/SKILL.md`. */
export interface SkillConfig {
  /** Told to the model at all times: when this skill applies. */
  readonly description: string;
  /** The body, loaded on demand. */
  readonly markdown: string;
  /** Files beside SKILL.md, by relative path. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** What `defineSkill` returns. */
export type SkillDefinition = SkillConfig & { readonly __agentServe: "skill" };

/**
 * Defines a skill in code.
 *
 * @example export default defineSkill({ description: "How to cut a release.", markdown: releaseSteps });
 */
export function defineSkill(config: SkillConfig): SkillDefinition {
  return { ...config, __agentServe: "skill" };
}
