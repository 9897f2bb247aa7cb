/** Markdown, as models write it, into Slack's own markup. Source: docs.slack.dev, "Formatting message text". */

/** Longest text of one message; Slack cuts those of more than 4,000 characters. */
export const maxMessageLength = 3_900;

/** Messages that one text becomes at most: Slack takes about one a second, and nobody reads more. */
const maxParts = 12;

/** Stands for text that is done with; no model writes it, and it is taken out of what came in. */
const mark = "\u0000";

/**
 * Markdown as mrkdwn. Code is left as it is, tables become code, people and channels stay mentioned; what would call
 * a whole channel is shown, not carried out.
 *
 * @example toMrkdwn("**Done**: [run 7](https://ci.example/7)") // "*Done*: <https://ci.example/7|run 7>"
 */
export function toMrkdwn(markdown: string): string {
  const out: string[] = [];
  let fence: string | undefined;
  let table: string[] = [];
  const closeTable = () => {
    if (table.length === 1) out.push(inline(table[0] ?? ""));
    else if (table.length > 1) out.push("```", ...table.map(escapeText), "```");
    table = [];
  };
  for (const line of markdown.replaceAll(mark, "").replace(/\r\n?/g, "\n").split("\n")) {
    const opened = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      const closes = opened?.startsWith(fence) === true && line.trim() === opened;
      if (closes) fence = undefined;
      out.push(closes ? "```" : escapeText(line));
    } else if (opened !== undefined) {
      closeTable();
      fence = opened;
      out.push("```");
    } else if (/^\s*\|.*\|\s*$/.test(line)) {
      table.push(line.trim());
    } else {
      closeTable();
      out.push(block(line));
    }
  }
  closeTable();
  if (fence !== undefined) out.push("```");
  return out.join("\n").trim();
}

/** One line outside code. */
function block(line: string): string {
  const heading = /^\s{0,3}#{1,6}\s+(.*)$/.exec(line);
  if (heading) {
    const title = inline(withoutHashes(heading[1] ?? "").replace(/\*\*|__/g, ""));
    return title === "" ? "" : `*${title}*`;
  }
  if (/^\s{0,3}(?:-\s*){3,}$|^\s{0,3}(?:\*\s*){3,}$|^\s{0,3}(?:_\s*){3,}$/.test(line)) return "———";
  const quote = /^\s{0,3}((?:>\s?)+)(.*)$/.exec(line);
  if (quote) return `> ${block(quote[2] ?? "")}`;
  const item = /^(\s*)[-*+]\s+(?:\[([ xX])\]\s+)?(.*)$/.exec(line);
  if (item) {
    const [, indent = "", done, rest = ""] = item;
    const bullet = done === undefined ? "•" : done === " " ? "☐" : "☑";
    return `${indent}${bullet} ${inline(rest)}`;
  }
  return inline(line);
}

/** `Title` of `# Title ##`. No pattern: one with optional blanks on both sides takes minutes for a line of blanks. */
function withoutHashes(title: string): string {
  let end = title.trimEnd().length;
  while (title[end - 1] === "#") end -= 1;
  return title.slice(0, end).trimEnd();
}

/** Longest text whose marks are read as one, in characters: what pairs marks looks at each more than once. */
const longestInline = 3_000;

/** Marks inside a line; of one that no message holds, piece by piece. */
function inline(line: string): string {
  if (line.length <= longestInline) return marked(line);
  const space = line.lastIndexOf(" ", longestInline);
  const at = space > longestInline / 2 ? space : wholeCharacters(line, longestInline);
  return marked(line.slice(0, at)) + inline(line.slice(at));
}

/** Finished pieces are put aside, so that no later rule reads them. */
function marked(line: string): string {
  const kept: string[] = [];
  const keep = (piece: string) => `${mark}${kept.push(piece) - 1}${mark}`;
  const restore = (piece: string): string =>
    piece.replace(/\0(\d+)\0/g, (_all, at: string) => restore(kept[Number(at)] ?? ""));

  const withPieces = line
    .replace(/(`+)(.+?)\1(?!`)/g, (_all, _ticks: string, code: string) =>
      keep(`\`${escapeText(code.trim() || code)}\``),
    )
    .replace(/\\([\\`*_{}[\]()#+\-.!~|<>])/g, (_all, char: string) => keep(escapeText(char)))
    .replace(
      /!?\[([^[\]\n]*)\]\(\s*<?((?:[^\s()>]|\([^\s()>]*\))+)>?(?:\s+"[^"]*")?\s*\)/g,
      (_all, label: string, url: string) => keep(link(url, label)),
    )
    .replace(/<((?:https?|mailto):[^\s<>|]+)>/g, (_all, url: string) => keep(link(url, "")))
    .replace(/<([@#][A-Z0-9]{2,}(?:\|[^<>]*)?)>/g, (_all, mention: string) => keep(`<${mention}>`))
    // An address may have underscores and stars, which are none of emphasis.
    .replace(/https?:\/\/[^\s<>]+/g, (url: string) => keep(escapeText(url)));

  const emphasised = escapeText(withPieces)
    .replace(/\*\*\*(?=\S)(.+?)(?<=\S)\*\*\*/g, (_all, inner: string) => `${keep("*_")}${inner}${keep("_*")}`)
    .replace(/\*\*(?=\S)(.+?)(?<=\S)\*\*/g, (_all, inner: string) => `${keep("*")}${inner}${keep("*")}`)
    .replace(/(?<![\w_])__(?=\S)(.+?)(?<=\S)__(?![\w_])/g, (_all, inner: string) => `${keep("*")}${inner}${keep("*")}`)
    .replace(/(?<![*\w])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![*\w])/g, (_all, inner: string) => `_${inner}_`)
    .replace(/~~(?=\S)(.+?)(?<=\S)~~/g, (_all, inner: string) => `~${inner}~`);
  return restore(emphasised);
}

/**
 * A link; of an address within a document or a site, its name alone. Slack takes what is in angle brackets for more than
 * links: `<!channel>` would call everybody.
 */
function link(url: string, label: string): string {
  if (!/^(?:https?|mailto|tel):/i.test(url)) return escapeText(label.trim() === "" ? url : label);
  const address = url.replaceAll("|", "%7C").replaceAll("<", "%3C").replaceAll(">", "%3E").replaceAll("&", "&amp;");
  const name = label
    .replace(/[*_`~]/g, "")
    .replaceAll("|", "/")
    .trim();
  return name === "" ? `<${address}>` : `<${address}|${escapeText(name)}>`;
}

/** The three characters that mean something to Slack. */
export function escapeText(plain: string): string {
  return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Slack's escapes taken back: what a person wrote, as a model should read it. */
export function unescapeText(escaped: string): string {
  return escaped.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** Markdown as the messages that say it; of an endless one the beginning, and that it is cut. */
export function toMessages(markdown: string): readonly string[] {
  const parts = splitMessage(toMrkdwn(markdown));
  return parts.length <= maxParts ? parts : [...parts.slice(0, maxParts - 1), "… (cut)"];
}

/** A long text in several, cut between lines; code that is cut is closed and opened again. */
export function splitMessage(text: string, limit: number = maxMessageLength): readonly string[] {
  const parts: string[] = [];
  let part: string[] = [];
  let size = 0;
  let inCode = false;
  const close = () => {
    if (part.some((line) => line.trim() !== "" && line !== "```")) {
      parts.push([...part, ...(inCode ? ["```"] : [])].join("\n").trim());
    }
    part = inCode ? ["```"] : [];
    size = inCode ? 4 : 0;
  };
  for (const line of text.split("\n").flatMap((each) => cut(each, limit - 8))) {
    if (size + line.length + 1 + 4 > limit) close();
    part.push(line);
    size += line.length + 1;
    if (line === "```") inCode = !inCode;
  }
  close();
  return parts;
}

/** A line that is too long by itself, between words where that can be. */
function cut(line: string, limit: number): readonly string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > limit) {
    const space = rest.lastIndexOf(" ", limit);
    const at = wholeMarks(rest, space > limit / 2 ? space : wholeCharacters(rest, limit));
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  return [...pieces, rest];
}

/** Where to cut, at most at `limit`: never within a link or an escaped character. */
function wholeMarks(text: string, limit: number): number {
  const [, link, escaped] = /(<[^<>]*)$|(&\w{0,3})$/.exec(text.slice(0, limit)) ?? [];
  return limit - (link ?? escaped ?? "").length || limit;
}

/** Where to cut, at most at `limit`: never between the two halves of one character. */
function wholeCharacters(text: string, limit: number): number {
  return /[\uD800-\uDBFF]/.test(text[limit - 1] ?? "") ? limit - 1 : limit;
}
