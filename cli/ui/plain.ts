/** Characters that would move a terminal's cursor, colour it or worse; what others wrote may hold them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** What somebody else wrote, for a terminal: its lines and tabs stay, other control characters show as `�`. */
export function plainText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(controls, "\ufffd");
}

/** The same as one line. */
export function plainLine(text: string): string {
  return plainText(text.replaceAll(/\s+/g, " "));
}
