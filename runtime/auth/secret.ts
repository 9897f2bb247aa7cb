import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * A check against one secret whose time does not depend on where, or in what length, the guess differs.
 *
 * @example const isToken = matchSecret("s3cret"); isToken("guess") // false
 */
export function matchSecret(secret: string): (guess: string) => boolean {
  const expected = digest(secret);
  return (guess) => timingSafeEqual(digest(guess), expected);
}
