/** In the child: notices what modules do besides loading, and stops the worst of it. */
import { Server } from "node:net";
import type { Failure, Incident } from "./protocol.js";

/** Thrown in place of `process.exit`, so that the rest of the run can go on. */
export class ExitAtLoad extends Error {
  override readonly name = "ExitAtLoad";
}

/** Which module is loading, what it reads from the environment, and what it did. */
export class Watch {
  readonly incidents: Incident[] = [];
  /** Modules that have begun and not ended, outermost first. */
  private readonly open: string[] = [];
  private reads = new Map<string, Set<string>>();
  private readonly pending: string[] = [];
  private readonly tell: (module: string) => void;

  constructor(tell: (module: string) => void) {
    this.tell = tell;
  }

  /** Runs a module's body, noting which one it is until it has ended, also when that takes a promise. */
  module(key: string, body: () => unknown): unknown {
    this.tell(key);
    this.open.push(key);
    let result: unknown;
    try {
      result = body();
    } catch (error) {
      // The stack of modules is kept for whoever asks which one failed.
      this.blame(key, error);
      throw error;
    } finally {
      this.open.pop();
      // Back in the module that imported it: should the process die now, that one was at work.
      const outer = this.open.at(-1);
      if (outer !== undefined) this.tell(outer);
    }
    if (!(result instanceof Promise)) return result;
    this.pending.push(key);
    const settle = (): void => {
      this.pending.splice(this.pending.lastIndexOf(key), 1);
    };
    return result.then(
      (value: unknown) => {
        settle();
        return value;
      },
      (error: unknown) => {
        settle();
        this.blame(key, error);
        throw error;
      },
    );
  }

  private failed: string | undefined;
  private readonly blamed = new WeakMap<object, string>();

  /** A module that failed is not run again: whoever imports it next gets the same error, and the fault is still its own. */
  private blame(key: string, error: unknown): void {
    const isObject = typeof error === "object" && error !== null;
    const first = (isObject ? this.blamed.get(error) : undefined) ?? key;
    if (isObject) this.blamed.set(error, first);
    this.failed ??= first;
  }

  /** The innermost module at fault or still at work; asking forgets the fault. */
  takeModule(): string | undefined {
    const found = this.failed ?? this.innermost();
    this.failed = undefined;
    return found;
  }

  private innermost(): string | undefined {
    return this.open.at(-1) ?? this.pending.at(-1);
  }

  failure(kind: Failure["kind"], error: unknown): Failure {
    const module = this.takeModule();
    const { message, stack } = words(error);
    return {
      kind: error instanceof ExitAtLoad ? "exit" : kind,
      message,
      stack,
      ...(module === undefined ? {} : { module }),
    };
  }

  incident(kind: Incident["kind"], error: unknown): void {
    this.incidents.push({ kind, ...words(error) });
  }

  read(name: string): void {
    const key = this.innermost() ?? "";
    const names = this.reads.get(key) ?? new Set();
    this.reads.set(key, names.add(name));
  }

  takeReads(): Record<string, string[]> {
    const taken = Object.fromEntries([...this.reads].map(([key, names]) => [key, [...names].sort()]));
    this.reads = new Map();
    return taken;
  }

  /** Puts a recorded environment in place of the process's own. */
  setEnvironment(env: Readonly<Record<string, string>>): void {
    const values: Record<string, string | undefined> = { ...env };
    process.env = new Proxy(values, {
      get: (target, name) => {
        if (typeof name === "string") this.read(name);
        return Reflect.get(target, name);
      },
      has: (target, name) => {
        if (typeof name === "string") this.read(name);
        return Reflect.has(target, name);
      },
      set: (target, name, value) => Reflect.set(target, name, String(value)),
    });
  }

  /** `process.exit`, servers and lost rejections, from now on. */
  install(): void {
    const exit = (code?: unknown): never => {
      const error = new ExitAtLoad(`process.exit(${code === undefined ? "" : String(code)})`);
      this.incident("exit", error);
      throw error;
    };
    process.exit = exit as typeof process.exit;
    process.abort = exit as typeof process.abort;
    const watch = this;
    Server.prototype.listen = function listen(this: Server, ...args: unknown[]) {
      watch.incident("listen", new Error(`listen(${typeof args[0] === "number" ? args[0] : ""})`));
      setImmediate(() => this.emit("listening"));
      return this;
    } as typeof Server.prototype.listen;
    process.on("unhandledRejection", (error) => this.incident("rejection", error));
    process.on("uncaughtException", (error) => {
      if (!(error instanceof ExitAtLoad)) this.incident("rejection", error);
    });
  }
}

function words(error: unknown): { readonly message: string; readonly stack: string } {
  if (error instanceof Error) return { message: withCauses(error), stack: error.stack ?? "" };
  return { message: typeof error === "string" ? error : (JSON.stringify(error) ?? String(error)), stack: "" };
}

function withCauses(error: Error): string {
  const own =
    error.name === "Error" || error instanceof ExitAtLoad || error.message.startsWith(error.name)
      ? error.message
      : `${error.name}: ${error.message}`;
  return error.cause instanceof Error ? `${own} (cause: ${withCauses(error.cause)})` : own;
}
