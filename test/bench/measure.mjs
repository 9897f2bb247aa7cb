// How the bench measures: CPU seconds of whole process trees, memory from /proc, and load over raw sockets. Linux only.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";

/** Runs a command to its end; CPU seconds include every descendant, peak RSS is the largest process seen. */
export async function runCommand(argv, options = {}) {
  const shell = spawn("bash", ["-c", '"$@"; code=$?; times >&2; exit $code', "bench", ...argv], {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  shell.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  shell.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  let peak = 0;
  const poll = setInterval(() => {
    for (const pid of descendants(shell.pid)) peak = Math.max(peak, statusKb(pid, "VmHWM"));
  }, 10);
  const started = performance.now();
  const code = await new Promise((resolve) => shell.on("close", resolve));
  clearInterval(poll);
  if (code !== 0) throw new Error(`${argv.join(" ")} exited ${code}\n${stdout}\n${stderr}`);
  const lastLine = stderr.trim().split("\n").at(-1) ?? "";
  const cpu = [...lastLine.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + Number(m) * 60 + Number(s), 0);
  return { cpu, wallMs: performance.now() - started, peakMb: peak / 1024, stdout, stderr };
}

const running = new Set();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
process.on("exit", () => {
  for (const child of running) child.kill("SIGTERM");
});

/** Starts a server and resolves when `ready(line)` returns something for a line of its stdout. */
export async function startServer(argv, ready, options = {}) {
  const child = spawn(argv[0], argv.slice(1), { ...options, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr = (stderr + chunk).slice(-20_000);
  });
  const lines = [];
  const value = await new Promise((resolve, reject) => {
    let rest = "";
    child.stdout.on("data", (chunk) => {
      rest += chunk;
      const parts = rest.split("\n");
      rest = parts.pop() ?? "";
      for (const line of parts) {
        lines.push(line);
        const found = ready(line);
        if (found !== undefined) resolve(found);
      }
    });
    child.on("exit", (code) => reject(new Error(`server exited ${code}: ${stderr}`)));
  });
  const stop = () =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.removeAllListeners("exit");
      child.once("exit", () => {
        running.delete(child);
        resolve();
      });
      child.kill("SIGTERM");
    });
  return { child, value, lines, stop, stderr: () => stderr };
}

/** Parses the `listening` line that `server.mjs --json` and `bdk serve --json` print. */
export function listeningUrl(line) {
  if (!line.startsWith("{")) return undefined;
  const parsed = JSON.parse(line);
  return parsed.event === "listening" ? parsed.url : undefined;
}

/** CPU milliseconds that all threads of a process have used, to the nanosecond. */
export function cpuMs(pid) {
  let total = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    total += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
  }
  return total / 1e6;
}

export function rssMb(pid) {
  return statusKb(pid, "VmRSS") / 1024;
}

function statusKb(pid, key) {
  try {
    return Number(new RegExp(`${key}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0; // the process ended between listing and reading
  }
}

function descendants(pid) {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    const direct = children === "" ? [] : children.split(" ").map(Number);
    return [...direct, ...direct.flatMap(descendants)];
  } catch {
    return []; // the process ended between listing and reading
  }
}

/** Sends `body` over `connections` keep-alive sockets for `ms`; resolves to requests per second. Throws on any non-200. */
export async function load(url, { connections, ms, body, headers = {} }) {
  const { hostname, port, pathname } = new URL(url);
  const extra = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${extra.join("")}\r\n${body}`;
  let done = 0;
  let failed;
  const until = performance.now() + ms;
  const one = () =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname);
      // Answers are counted, not read: only their heads become text, so that the client costs little of the machine.
      let head = "";
      let missing = Number.NaN;
      socket.setNoDelay(true);
      socket.on("connect", () => socket.write(request));
      socket.on("error", (error) => {
        failed = error;
        resolve();
      });
      socket.on("data", (chunk) => {
        if (Number.isNaN(missing)) {
          head += chunk.toString("latin1");
          const end = head.indexOf("\r\n\r\n");
          if (end < 0) return;
          if (!head.startsWith("HTTP/1.1 200")) failed = new Error(head.slice(0, 400));
          const length = /content-length: (\d+)/i.exec(head.slice(0, end))?.[1];
          missing = length === undefined ? Number.POSITIVE_INFINITY : Number(length) - (head.length - end - 4);
        } else missing -= chunk.length;
        // Without a length the body is chunked, and ends with an empty chunk.
        if (missing === Number.POSITIVE_INFINITY && chunk.toString("latin1", chunk.length - 5) === "0\r\n\r\n")
          missing = 0;
        if (missing > 0 && failed === undefined) return;
        done += 1;
        head = "";
        missing = Number.NaN;
        if (performance.now() < until && failed === undefined) socket.write(request);
        else {
          socket.destroy();
          resolve();
        }
      });
    });
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, one));
  if (failed !== undefined) throw failed;
  return done / ((performance.now() - started) / 1000);
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
