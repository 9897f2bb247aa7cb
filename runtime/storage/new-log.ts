import type { SessionEvent } from "../session/event.js";
import type { LogFile } from "./log-file.js";

interface Queued {
  readonly events: readonly SessionEvent[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The log of a session that is being made. What is appended before the file is open goes into its first write, so
 * that a session, its first message and the start of its first turn share one sync.
 */
export class NewLog {
  readonly #made: Promise<void>;
  #isMade = false;
  #file: LogFile | undefined;
  #failure: unknown;
  #queue: Queued[] = [];
  #nextIndex = 0;
  /** The last append that has to wait for more than its own sync, and how many there are. */
  #before: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** @param file resolves when the file is open; @param made when everything else of the session is on disk, too. */
  constructor(file: Promise<LogFile>, made: Promise<void>) {
    this.#made = made;
    file.then(
      (opened) => this.#start(opened),
      (error: unknown) => this.#fail(error),
    );
    made.then(
      () => {
        this.#isMade = true;
      },
      (error: unknown) => this.#fail(error),
    );
  }

  get nextIndex(): number {
    return this.#file?.nextIndex ?? this.#nextIndex;
  }

  append(events: readonly SessionEvent[]): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const written = this.#write(events);
    return this.#isMade && this.#waiting === 0 ? written : this.#inTurn(written);
  }

  #write(events: readonly SessionEvent[]): Promise<void> {
    if (this.#file !== undefined) return this.#file.append(events);
    this.#nextIndex = (events.at(-1)?.index ?? this.#nextIndex - 1) + 1;
    return new Promise((resolve, reject) => this.#queue.push({ events, resolve, reject }));
  }

  /** What was appended first is told first: observers are shown events in this order. */
  #inTurn(written: Promise<void>): Promise<void> {
    this.#waiting += 1;
    const done = Promise.all([written, this.#made, this.#before]).then(() => undefined);
    this.#before = done.then(
      () => this.#settle(),
      () => this.#settle(),
    );
    return done;
  }

  #settle(): void {
    this.#waiting -= 1;
  }

  #start(file: LogFile): void {
    this.#file = file;
    for (const { events, resolve, reject } of this.#queue.splice(0)) file.append(events).then(resolve, reject);
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const { reject } of this.#queue.splice(0)) reject(error);
  }
}
