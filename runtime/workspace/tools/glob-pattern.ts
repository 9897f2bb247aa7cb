import { ToolFailure } from "./tool.js";

/** Most alternatives that `{a,b}` may make of one pattern. */
const maxAlternatives = 256;

/**
 * Compiles a glob: `*` and `?` within a name, `[a-z]` and `[!a-z]`, `**` for any folders, `{a,b}` for alternatives, `\`
 * before a character that stands for itself. A pattern without `/` fits a name in any folder. Matching takes time in
 * proportion to pattern × path, whatever the pattern: it comes from a model.
 *
 * @example compileGlob("docs/*.{md,txt}")("docs/start.md") // true
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const alternatives = expandBraces(pattern).map((each): readonly Segment[] => {
    const clean = each.replace(/^\.?\//, "");
    const segments = clean.split("/").map(parseSegment);
    return clean.includes("/") ? segments : [anyFolders, ...segments];
  });
  return (path) => {
    const names = path.split("/");
    return alternatives.some((segments) =>
      fits(segments, names, isFolders, (segment, name) => fitsName(segment, name)),
    );
  };
}

type Token = "any" | { readonly fits: (character: string) => boolean };
type Segment = readonly Token[] | typeof anyFolders;
const anyFolders = "folders";

const isFolders = (segment: Segment): boolean => segment === anyFolders;

function fitsName(segment: Segment, name: string): boolean {
  return segment !== anyFolders && fits(segment, [...name], (token) => token === "any", fitsCharacter);
}

function fitsCharacter(token: Token, character: string): boolean {
  return token !== "any" && token.fits(character);
}

/** Matches a list against a pattern in which some parts stand for any number of items: only the last such is tried again. */
function fits<P, T>(
  pattern: readonly P[],
  items: readonly T[],
  isMany: (part: P) => boolean,
  isOne: (part: P, item: T) => boolean,
): boolean {
  let part = 0;
  let item = 0;
  let many = -1;
  let taken = 0;
  while (item < items.length) {
    const current = pattern[part];
    if (current !== undefined && isMany(current)) {
      many = part;
      taken = item;
      part += 1;
    } else if (current !== undefined && isOne(current, items[item] as T)) {
      part += 1;
      item += 1;
    } else if (many >= 0) {
      taken += 1;
      item = taken;
      part = many + 1;
    } else return false;
  }
  return pattern.slice(part).every(isMany);
}

function parseSegment(text: string): Segment {
  if (text === "**") return anyFolders;
  const tokens: Token[] = [];
  const characters = [...text];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    if (character === "*") tokens.push("any");
    else if (character === "?") tokens.push({ fits: () => true });
    else if (character === "[") {
      const end = characters.indexOf("]", at + 2);
      if (end < 0) throw new ToolFailure(`The pattern has a [ without its ]: "${text}".`);
      tokens.push(parseSet(characters.slice(at + 1, end)));
      at = end;
    } else {
      if (character === "\\") at += 1;
      const literal = characters[at] ?? "\\";
      tokens.push({ fits: (each) => each === literal });
    }
  }
  return tokens;
}

function parseSet(inside: readonly string[]): Token {
  const isNegated = inside[0] === "!" || inside[0] === "^";
  const members = isNegated ? inside.slice(1) : inside;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < members.length; at += 1) {
    const from = members[at] ?? "";
    const to = members[at + 1] === "-" ? members[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return { fits: (each) => ranges.some(([from, to]) => each >= from && each <= to) !== isNegated };
}

/** `a{b,c}d` is `abd` and `acd`; braces nest. */
function expandBraces(pattern: string): readonly string[] {
  const open = pattern.search(/(?<!\\)\{/);
  if (open < 0) return [pattern];
  const parts: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let at = open; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === "\\") at += 1;
    else if (character === "{") depth += 1;
    else if (character === "," && depth === 1) {
      parts.push(pattern.slice(start, at));
      start = at + 1;
    } else if (character === "}") {
      depth -= 1;
      if (depth > 0) continue;
      parts.push(pattern.slice(start, at));
      const before = pattern.slice(0, open);
      const ends = expandBraces(pattern.slice(at + 1));
      const expanded = parts.flatMap(expandBraces).flatMap((part) => ends.map((end) => before + part + end));
      if (expanded.length > maxAlternatives) {
        throw new ToolFailure(`The pattern has more than ${maxAlternatives} alternatives.`);
      }
      return expanded;
    }
  }
  throw new ToolFailure(`The pattern has a { without its }: "${pattern}".`);
}
