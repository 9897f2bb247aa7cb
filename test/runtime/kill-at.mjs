// Preloaded with --import: once `globalThis.killArmed` is set, the process kills itself before its KILL_AT-th call of
// node:fs that changes something, and counts such calls in `globalThis.killCalls`.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const killAt = Number(process.env.KILL_AT);
globalThis.killCalls = 0;
const acts =
  /^(?:write|writev|writeSync|fsync|fdatasync|fsyncSync|fdatasyncSync|rename|renameSync|ftruncate|rm|rmSync)$/;
for (const name of Object.keys(fs)) {
  if (!acts.test(name)) continue;
  const original = fs[name];
  const wrapped = function (...args) {
    if (globalThis.killArmed === true && args[0] !== 1 && args[0] !== 2) {
      globalThis.killCalls += 1;
      if (globalThis.killCalls === killAt) process.kill(process.pid, "SIGKILL");
    }
    return Reflect.apply(original, this, args);
  };
  fs[name] = Object.assign(wrapped, original);
}
syncBuiltinESMExports();
