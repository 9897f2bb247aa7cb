import { randomFillSync } from "node:crypto";
import type { MakeId } from "../session/ports.js";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const randomChars = 16;

/** Ids with a ULID: 48 bits of time, then 80 random bits that only count up within a millisecond, so ids sort by creation. */
export function createIds(now: () => number): MakeId {
  const pool = Buffer.alloc(randomChars * 256);
  let used = pool.length;
  let lastTime = -1;
  let timeText = "";
  const digits: number[] = new Array<number>(randomChars).fill(0);

  function draw(): void {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    for (let at = 0; at < randomChars; at += 1) digits[at] = (pool[used + at] ?? 0) & 31;
    used += randomChars;
  }

  function countUp(): void {
    let at = randomChars - 1;
    while (at >= 0 && digits[at] === 31) digits[at--] = 0;
    if (at >= 0) digits[at] = (digits[at] ?? 0) + 1;
  }

  return (prefix) => {
    const time = Math.max(now(), lastTime);
    if (time === lastTime) countUp();
    else {
      lastTime = time;
      timeText = encodeTime(time);
      draw();
    }
    let text = prefix + timeText;
    for (const digit of digits) text += alphabet[digit];
    return text;
  };
}

function encodeTime(time: number): string {
  let text = "";
  let rest = time;
  for (let at = 0; at < 10; at += 1) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
