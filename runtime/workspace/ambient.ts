/** What the folders above the working directory have to say: AGENTS.md, and rules and skills of `.cursor`. Decision 39. */
import fs from "node:fs";
import path from "node:path";
import type { SessionRecord } from "../session/ports.js";
import type { Skill } from "../tools/skills.js";
import { readFrontMatter } from "./front-matter.js";

/** How long what was read stands, in milliseconds: a turn must not look at a dozen folders for each step. */
const freshMs = 5_000;
/** Most bytes of one file that are taken. */
const maxFileBytes = 64 * 1024;
/** Most characters of all texts together. */
const maxCharacters = 256 * 1024;

export interface Ambient {
  /** For the system prompt; empty when there is nothing. */
  readonly text: string;
  /** Loaded on demand: skills, and rules that say when they apply. */
  readonly skills: readonly Skill[];
}

export interface AmbientOptions {
  /** The innermost folder that is looked at. */
  readonly folder: (record: SessionRecord | undefined) => string;
  readonly warn: (message: string) => void;
  readonly now: () => number;
}

/** Reads ambient context, again whenever what is known is older than five seconds. */
export function createAmbient({ folder, warn, now }: AmbientOptions): (record: SessionRecord | undefined) => Ambient {
  const warned = new Set<string>();
  let known: { readonly folder: string; readonly at: number; readonly ambient: Ambient } | undefined;
  const warnOnce = (message: string) => {
    if (!warned.has(message)) warn(message);
    warned.add(message);
  };
  return (record) => {
    const from = folder(record);
    if (known?.folder === from && now() - known.at < freshMs) return known.ambient;
    known = { folder: from, at: now(), ambient: readAmbient(from, warnOnce) };
    return known.ambient;
  };
}

/** The nearest folder comes last, so that it has the last word; of two skills of one name it wins. */
function readAmbient(from: string, warn: (message: string) => void): Ambient {
  const texts: string[] = [];
  const skills = new Map<string, Skill>();
  for (const folder of lineage(from)) {
    const file = path.join(folder, "AGENTS.md");
    const agents = readText(file, warn);
    if (agents !== undefined) texts.push(part(file, agents));
    const settings = path.join(folder, ".cursor");
    if (!fs.existsSync(settings)) continue;
    readRules(path.join(settings, "rules"), texts, skills, warn);
    readSkills(path.join(settings, "skills"), skills, warn);
    const hooks = path.join(settings, "hooks.json");
    if (fs.existsSync(hooks)) warn(`${hooks} is not run: BDK's own turn loop runs the hooks in bot/hooks/ only`);
  }
  const text = texts.join("\n\n");
  if (text.length <= maxCharacters) return { text, skills: [...skills.values()] };
  warn(
    `AGENTS.md and .cursor rules above ${from} are longer than ${maxCharacters} characters; the outermost are left out`,
  );
  return { text: text.slice(-maxCharacters), skills: [...skills.values()] };
}

/** From the root of the file system down. */
function lineage(from: string): readonly string[] {
  const parent = path.dirname(from);
  return parent === from ? [from] : [...lineage(parent), from];
}

function part(file: string, text: string): string {
  return `From ${file}:\n\n${text.trim()}`;
}

/** A rule that always applies is told; one that says when it applies is loaded when it does. */
function readRules(folder: string, texts: string[], skills: Map<string, Skill>, warn: (message: string) => void): void {
  for (const name of list(folder, warn)) {
    if (!/\.mdc?$/.test(name)) continue;
    const file = path.join(folder, name);
    const contents = readText(file, warn);
    if (contents === undefined) continue;
    const { fields, body } = readFrontMatter(contents);
    const when = fields.description ?? (fields.globs === undefined ? undefined : `Applies to ${fields.globs}`);
    if (fields.alwaysApply === "true" || when === undefined) texts.push(part(file, body));
    else {
      const id = name.replace(/\.mdc?$/, "");
      skills.set(id, { name: id, description: when, markdown: body, files: new Map() });
    }
  }
}

function readSkills(folder: string, skills: Map<string, Skill>, warn: (message: string) => void): void {
  for (const name of list(folder, warn)) {
    const contents = readText(path.join(folder, name, "SKILL.md"), warn);
    if (contents === undefined) continue;
    const { fields, body } = readFrontMatter(contents);
    const id = fields.name ?? name;
    skills.set(id, { name: id, description: fields.description ?? "", markdown: body, files: new Map() });
  }
}

function list(folder: string, warn: (message: string) => void): readonly string[] {
  if (!fs.existsSync(folder)) return [];
  try {
    return fs.readdirSync(folder).sort();
  } catch (error) {
    warn(`${folder} can't be read: ${reasonOf(error)}`);
    return [];
  }
}

/** The text of an ordinary file; nothing when there is none. */
function readText(file: string, warn: (message: string) => void): string | undefined {
  try {
    const facts = fs.statSync(file, { throwIfNoEntry: false });
    if (facts === undefined || !facts.isFile()) return undefined;
    if (facts.size <= maxFileBytes) return fs.readFileSync(file, "utf8");
    warn(`${file} is larger than ${maxFileBytes} bytes and is left out`);
  } catch (error) {
    warn(`${file} can't be read: ${reasonOf(error)}`);
  }
  return undefined;
}

function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
