/** Control and direction characters as escapes: a prompt must not be able to redraw or reorder what its reader sees. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === "\t" ? "  " : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
