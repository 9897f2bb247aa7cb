import { randomFillSync } from "node:crypto";
import type { MakeId } from "../session/ports.js";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Two digits for each number below 1024. */
const pairs = Array.from({ length: 1024 }, (_, number) => digit(number >> 5) + digit(number));

/** Random digits of an id: those that stay for the millisecond, and those that count up within it. */
const fixedDigits = 12;
const randomDigits = 16;
const countLimit = 1 << 20;

/** Ids with a ULID: 48 bits of time, then 80 random bits that only count up within a millisecond, so ids sort by creation. */
export function createIds(now: () => number): MakeId {
  const pool = Buffer.alloc(randomDigits * 256);
  let used = pool.length;
  let lastTime = -1;
  /** All but the last four digits. */
  let head = "";
  let count = 0;

  function draw(time: number): void {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    lastTime = time;
    head = encodeTime(time);
    for (let at = 0; at < fixedDigits; at += 1) head += digit(pool[used + at] ?? 0);
    count = pool.readUInt32LE(used + fixedDigits) % countLimit;
    used += randomDigits;
  }

  return (prefix) => {
    const time = Math.max(now(), lastTime);
    if (time > lastTime) draw(time);
    // A millisecond whose count is used up is over: the next one begins early.
    else if (++count === countLimit) draw(time + 1);
    return prefix + head + pairs[count >> 10] + pairs[count & 1023];
  };
}

function digit(number: number): string {
  return alphabet.charAt(number & 31);
}

function encodeTime(time: number): string {
  let text = "";
  let rest = time;
  for (let at = 0; at < 10; at += 1) {
    text = digit(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
