import fs from "node:fs";
import { promisify } from "node:util";
import { eventCatalog, type SessionEvent } from "../session/event.js";
import { appendWhole, privateFile, storageError } from "./files.js";

const fdatasync = promisify(fs.fdatasync);

/** Bytes of recent lines kept for readers at the live edge. */
const tailBytes = 64 * 1024;
/** Unsynced events after which a sync is forced. A machine crash loses at most this many, and `gapAfterCrash` skips them. */
const maxUnsynced = 512;
/** Added to the next index of an open turn after the machine went down, so that no index names two things. */
export const gapAfterCrash = 1024;

/** Recent lines with the offset at which each starts. */
interface Tail {
  lines: string[];
  offsets: number[];
  bytes: number;
}

/**
 * One session's NDJSON file. Appends are written at once, in order; one `fdatasync` serves everything written before
 * it began. What readers may see ends at `visibleSize`: the first event that still waits for its sync.
 */
export class LogFile {
  readonly path: string;
  readonly #fd: number;
  #size: number;
  #nextIndex: number;
  #visibleSize: number;
  /** Offset of the first written event that must be synced before it is seen. */
  #firstUnsynced: number | undefined;
  #unsynced = 0;
  #syncing = false;
  #scheduled = false;
  #broken: Error | undefined;
  #ended = false;
  #closing: Promise<void> | undefined;
  /** Those who wait until no sync runs. */
  readonly #idle: (() => void)[] = [];
  #waiting: { readonly end: number; readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  #tail: Tail = { lines: [], offsets: [], bytes: 0 };
  readonly #watchers = new Set<() => void>();

  constructor(path: string, fd: number, size: number, nextIndex: number) {
    this.path = path;
    this.#fd = fd;
    this.#size = size;
    this.#visibleSize = size;
    this.#nextIndex = nextIndex;
  }

  /** Creates the file, exclusively. */
  static async create(path: string): Promise<LogFile> {
    return new LogFile(path, fs.openSync(path, "ax+", privateFile), 0, 0);
  }

  /** Opens the file, cutting off a torn end. `undefined` when it isn't there. */
  static open(path: string, warn: (message: string) => void): LogFile | undefined {
    let fd: number;
    try {
      fd = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_APPEND);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
    try {
      const written = fs.fstatSync(fd).size;
      const { size, lastIndex } = findEnd(fd, written);
      if (size < written) {
        fs.ftruncateSync(fd, size);
        warn(`${path}: cut off ${written - size} bytes of an event that was not written to its end`);
      }
      return new LogFile(path, fd, size, lastIndex + 1);
    } catch (error) {
      fs.closeSync(fd);
      throw error;
    }
  }

  get nextIndex(): number {
    return this.#nextIndex;
  }

  /** Bytes that readers may see. */
  get visibleSize(): number {
    return this.#visibleSize;
  }

  get fd(): number {
    return this.#fd;
  }

  /** Nothing more will come; readers finish what they have. */
  get isEnded(): boolean {
    return this.#ended;
  }

  /** Leaves a gap in the indexes; see `gapAfterCrash`. */
  skipIndexes(count: number): void {
    this.#nextIndex += count;
  }

  append(events: readonly SessionEvent[]): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    const last = events.at(-1);
    if (last === undefined) return Promise.resolve();
    const start = this.#size;
    try {
      this.#write(events);
    } catch (error) {
      return Promise.reject(this.#break(error));
    }
    this.#nextIndex = last.index + 1;
    const mustSync = events.some((event) => eventCatalog[event.type].flush);
    this.#unsynced += events.length;
    if (mustSync) this.#firstUnsynced ??= start;
    if (mustSync || this.#unsynced >= maxUnsynced) this.#scheduleSync();
    if (this.#firstUnsynced === undefined && !this.#syncing) {
      this.#show();
      return Promise.resolve();
    }
    const end = this.#size;
    return new Promise((resolve, reject) => this.#waiting.push({ end, resolve, reject }));
  }

  /** Recent lines from `offset` on, or `undefined` when they must be read from the file. */
  recent(offset: number): { readonly lines: readonly string[]; readonly end: number } | undefined {
    const { lines, offsets } = this.#tail;
    const first = offsets[0];
    if (first === undefined || offset < first) return undefined;
    const from = lowerBound(offsets, offset);
    const to = lowerBound(offsets, this.#visibleSize);
    if (offsets[from] !== offset) return undefined;
    return { lines: lines.slice(from, to), end: this.#visibleSize };
  }

  /** Calls back once, when more becomes visible or the file closes. */
  watch(callback: () => void): () => void {
    this.#watchers.add(callback);
    return () => this.#watchers.delete(callback);
  }

  /** Wakes everyone who waits at the live edge. */
  notify(): void {
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const watcher of watchers) watcher();
  }

  /** Takes no more events: each attempt is rejected with this. What is there can still be read. */
  refuse(error: Error): void {
    this.#break(error);
  }

  /** Lets readers at the edge go. The file stays open for those who are still reading. */
  end(): void {
    this.#ended = true;
    this.notify();
  }

  /** Closes the file once everything written is on disk. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Ends the log and resolves when everything written is on disk, as far as the disk takes it. */
  async finish(): Promise<void> {
    this.end();
    if (this.#unsynced > 0 && this.#broken === undefined) this.#scheduleSync();
    while (this.#scheduled || this.#syncing) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  async #close(): Promise<void> {
    await this.finish();
    fs.closeSync(this.#fd);
  }

  #write(events: readonly SessionEvent[]): void {
    const lines = events.map((event) => JSON.stringify(event));
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    appendWhole(this.#fd, bytes, this.#size);
    for (const line of lines) this.#remember(line);
  }

  #remember(line: string): void {
    const tail = this.#tail;
    const bytes = Buffer.byteLength(line) + 1;
    tail.lines.push(line);
    tail.offsets.push(this.#size);
    tail.bytes += bytes;
    this.#size += bytes;
    if (tail.bytes <= tailBytes * 2) return;
    let drop = 0;
    while (tail.bytes > tailBytes && drop < tail.lines.length - 1) {
      tail.bytes -= Buffer.byteLength(tail.lines[drop] ?? "") + 1;
      drop += 1;
    }
    tail.lines = tail.lines.slice(drop);
    tail.offsets = tail.offsets.slice(drop);
  }

  /** After the current run of JavaScript, so that everything it records shares one sync. */
  #scheduleSync(): void {
    if (this.#syncing || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#sync();
    });
  }

  async #sync(): Promise<void> {
    this.#syncing = true;
    while (this.#firstUnsynced !== undefined || this.#unsynced >= (this.#ended ? 1 : maxUnsynced)) {
      this.#firstUnsynced = undefined;
      this.#unsynced = 0;
      try {
        await fdatasync(this.#fd);
      } catch (error) {
        this.#break(error);
        break;
      }
      this.#show();
    }
    this.#syncing = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #show(): void {
    const size = this.#firstUnsynced ?? this.#size;
    this.#visibleSize = size;
    let settled = 0;
    while (settled < this.#waiting.length && (this.#waiting[settled]?.end ?? Number.POSITIVE_INFINITY) <= size)
      settled += 1;
    for (const { resolve } of this.#waiting.splice(0, settled)) resolve();
    this.notify();
  }

  #break(error: unknown): Error {
    this.#broken = storageError(error);
    for (const { reject } of this.#waiting.splice(0)) reject(this.#broken);
    return this.#broken;
  }
}

/** First position whose offset is at least `offset`. */
function lowerBound(offsets: readonly number[], offset: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where the last whole event ends, and its index (-1 for none). */
function findEnd(fd: number, size: number): { readonly size: number; readonly lastIndex: number } {
  let end = size;
  while (end > 0) {
    const { start, text, isWhole } = lastLine(fd, end);
    const index = isWhole ? parseIndex(text) : undefined;
    if (index !== undefined) return { size: end, lastIndex: index };
    end = start;
  }
  return { size: 0, lastIndex: -1 };
}

function parseIndex(line: string): number | undefined {
  try {
    const event: unknown = JSON.parse(line);
    const index = typeof event === "object" && event !== null && "index" in event ? event.index : undefined;
    return typeof index === "number" ? index : undefined;
  } catch {
    return undefined; // not an event: the caller cuts it off
  }
}

/** The line that ends at `end`; not whole when its newline is missing. */
function lastLine(
  fd: number,
  end: number,
): { readonly start: number; readonly text: string; readonly isWhole: boolean } {
  const chunk = 16 * 1024;
  let start = end;
  let bytes: Buffer = Buffer.alloc(0);
  while (start > 0) {
    const from = Math.max(0, start - chunk);
    const more = Buffer.alloc(start - from);
    fs.readSync(fd, more, 0, more.length, from);
    bytes = Buffer.concat([more, bytes]);
    start = from;
    const newline = bytes.lastIndexOf(10, bytes.length - 2);
    if (bytes.length > 1 && newline !== -1) {
      bytes = bytes.subarray(newline + 1);
      start = end - bytes.length;
      break;
    }
  }
  const isWhole = bytes.at(-1) === 10;
  return { start, text: bytes.toString("utf8", 0, isWhole ? bytes.length - 1 : bytes.length), isWhole };
}
