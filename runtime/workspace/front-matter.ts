/** A Markdown file's front matter, as far as rules and skills use it: `key: value` lines, quotes taken off. */
export function readFrontMatter(text: string): {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
} {
  const [, head, body] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text) ?? [];
  if (head === undefined || body === undefined) return { fields: {}, body: text };
  const fields: Record<string, string> = {};
  for (const line of head.split(/\r?\n/)) {
    const [, key, value = ""] = /^([A-Za-z][\w-]*):[ \t]*(.*)$/.exec(line) ?? [];
    const plain = value.trim().replace(/^(["'])(.*)\1$/, "$2");
    if (key !== undefined && plain !== "") fields[key] = plain;
  }
  return { fields, body: body.trim() };
}
