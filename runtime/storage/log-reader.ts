import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { RuntimeError } from "../errors.js";
import type { LogFile } from "./log-file.js";

const read = promisify(fs.read);

const chunkBytes = 64 * 1024;
/** Distance of remembered positions, in bytes: how much a reader that starts in the middle has to skip at most. */
const strideBytes = 64 * 1024;

/** Remembered positions of one file, index ascending: `[index, offset]`. Filled in by whoever reads past them. */
export class Positions {
  readonly #indexes: number[] = [];
  readonly #offsets: number[] = [];

  /** Where to start reading to find `index`. */
  before(index: number): number {
    let position = this.#indexes.length - 1;
    while (position >= 0 && (this.#indexes[position] ?? 0) > index) position -= 1;
    return this.#offsets[position] ?? 0;
  }

  /** Remembers a line start, if it is far enough from the last one. */
  note(line: string, offset: number): void {
    const last = this.#offsets.at(-1) ?? 0;
    if (offset < last + strideBytes) return;
    this.#indexes.push(indexOf(line));
    this.#offsets.push(offset);
  }
}

/** The index of a line. The envelope's comes first, after a type that holds no quotes. */
function indexOf(line: string): number {
  const at = line.indexOf('"index":') + 8;
  return Number.parseInt(line.slice(at, at + 16), 10);
}

/**
 * Lines from `startIndex` up to what is visible; with `live`, goes on at the edge until it says stop. Pulls: between
 * two batches a reader costs its offset and nothing else.
 */
export async function* readLines(
  file: LogFile,
  positions: Positions,
  startIndex: number,
  live?: { readonly signal: AbortSignal; readonly hasEnded: () => boolean },
): AsyncGenerator<readonly string[]> {
  const edge = live === undefined ? undefined : new Edge(file, live.signal);
  try {
    yield* linesFrom(file, positions, startIndex, live?.hasEnded, edge);
  } finally {
    edge?.close();
  }
}

async function* linesFrom(
  file: LogFile,
  positions: Positions,
  startIndex: number,
  hasEnded: (() => boolean) | undefined,
  edge: Edge | undefined,
): AsyncGenerator<readonly string[]> {
  let offset = startIndex <= 0 ? 0 : startIndex >= file.nextIndex ? file.visibleSize : positions.before(startIndex);
  let skipping = startIndex > 0;
  for (;;) {
    while (offset < file.visibleSize) {
      if (edge?.isLeft) return;
      const batch = file.recent(offset) ?? (await readChunk(file, positions, offset));
      offset = batch.end;
      const lines = skipping ? batch.lines.filter((line) => indexOf(line) >= startIndex) : batch.lines;
      if (skipping && lines.length > 0) skipping = false;
      if (lines.length > 0) yield lines;
    }
    if (edge === undefined || edge.isLeft || file.isEnded || hasEnded?.()) return;
    await edge.passed(offset);
  }
}

/** Whole lines from `offset`, about one chunk of them; more when a single line is longer. */
async function readChunk(file: LogFile, positions: Positions, offset: number) {
  let length = Math.min(chunkBytes, file.visibleSize - offset);
  for (;;) {
    const buffer = Buffer.allocUnsafe(length);
    const { bytesRead } = await read(file.fd, buffer, 0, length, offset);
    const end = buffer.subarray(0, bytesRead).lastIndexOf(10) + 1;
    if (end > 0) {
      const lines = buffer.toString("utf8", 0, end - 1).split("\n");
      if (!lines.every(isEvent)) throw damaged(file, offset);
      positions.note(lines[0] ?? "", offset);
      return { lines, end: offset + end };
    }
    if (bytesRead < length || offset + length >= file.visibleSize) throw damaged(file, offset);
    length = Math.min(length * 4, file.visibleSize - offset);
  }
}

/** Whether a line looks like an event from both its ends: cheap enough for each, and what a disk or an editor leaves doesn't. */
function isEvent(line: string): boolean {
  return line.startsWith('{"') && /\}\r?$/.test(line.slice(-2));
}

function damaged(file: LogFile, offset: number): RuntimeError {
  const name = `traces/${path.basename(file.path)}`;
  return new RuntimeError("storage_unavailable", `${name} is damaged, at byte ${offset} or soon after`);
}

/** The end of what is visible, where a live reader waits. One abort listener serves the whole reading: they are dear. */
class Edge {
  readonly #file: LogFile;
  readonly #signal: AbortSignal;
  #wake: (() => void) | undefined;
  readonly #onAbort = () => this.#wake?.();

  constructor(file: LogFile, signal: AbortSignal) {
    this.#file = file;
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** The reader has gone. */
  get isLeft(): boolean {
    return this.#signal.aborted;
  }

  /** Resolves when more than `offset` is visible, the file closes, or the reader leaves. */
  passed(offset: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#file.visibleSize > offset || this.#file.isEnded || this.isLeft) return resolve();
      const unwatch = this.#file.watch(() => this.#wake?.());
      this.#wake = () => {
        this.#wake = undefined;
        unwatch();
        resolve();
      };
    });
  }

  close(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}
