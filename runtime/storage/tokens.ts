import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { TokenSigner } from "../session/ports.js";
import { privateFile, readIfThere } from "./files.js";

/** Signs the rotating tokens of the built-in API with a key that is made once and kept, 0600, in the state root. */
export function openTokenSigner(dir: string): TokenSigner {
  const key = readKey(path.join(dir, "token.key"));
  return {
    sign: (sessionId, counter) =>
      `http:${createHmac("sha256", key).update(`${sessionId}:${counter}`).digest("base64url")}`,
    equal(left, right) {
      const a = Buffer.from(left);
      const b = Buffer.from(right);
      return a.length === b.length && timingSafeEqual(a, b);
    },
  };
}

function readKey(file: string): Buffer {
  const text = readIfThere(file);
  if (text !== undefined && text.trim().length === 64) return Buffer.from(text.trim(), "hex");
  const key = randomBytes(32);
  const fd = fs.openSync(file, "w", privateFile);
  try {
    fs.writeFileSync(fd, `${key.toString("hex")}\n`);
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
  return key;
}
