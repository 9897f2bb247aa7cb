// Preloaded with --import: writes "function path" to the file named by RECORD_FS for every call of node:fs that names a path.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const record = fs.openSync(process.env.RECORD_FS, "a");
const { writeSync } = fs;
for (const owner of [fs, fs.promises]) {
  for (const name of Object.keys(owner)) {
    const original = owner[name];
    if (typeof original !== "function" || /^[A-Z_]/.test(name)) continue;
    const wrapped = function (...args) {
      const path = args[0] instanceof URL ? args[0].pathname : args[0];
      if (typeof path === "string") writeSync(record, `${name} ${path}\n`);
      return Reflect.apply(original, this, args);
    };
    owner[name] = Object.assign(wrapped, original);
  }
}
syncBuiltinESMExports();
