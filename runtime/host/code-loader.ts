/**
 * How `server.mjs` runs the texts that are linked into it: each is a string, compiled when it is first needed, with V8's
 * code cache from an earlier start. Parsing half a megabyte takes longer than everything else at startup; a cached text
 * is not parsed at all. Caches are kept in the state root, so that the bundle stays the same bytes everywhere.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { textImports } from "../manifest/text-imports.js";

/** A text of the bundle: an expression, usually a function. */
export interface LinkedText {
  /** File name of its cache, without ending. */
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, hexadecimal. */
  readonly digest: string;
  /** Lines of `server.mjs` before it: stack traces name the place in the file. */
  readonly line: number;
}

export interface CodeLoader {
  /** The value of a text. */
  load(linked: LinkedText): unknown;
  /** Keeps what was compiled in a state root, soon and whenever a text is loaded later. */
  keepIn(stateRoot: string): void;
  /** Writes at once what is not written yet; for a process that is about to end. */
  flush(): void;
  /**
   * `import()`. Texts can't do it themselves: one that comes from a code cache has forgotten where it belongs (V8 keeps no
   * host-defined options). The loader is a part of `server.mjs` itself.
   */
  importModule(url: string): Promise<unknown>;
}

/** Once listening, this long until caches are written, in milliseconds: the first requests are part of what is kept. */
const settlingMs = 250;

/** Before the code: the digest of the text, then a checksum of the code, since V8 checks neither. */
const digestBytes = 32;
const headerBytes = digestBytes + 4;

/**
 * Makes the loader of a bundle. `url` is that of `server.mjs`.
 *
 * The young generation of the heap grows while a process starts, and a lean start leaves it small: requests would then
 * be interrupted by three times as many collections as those of a server that loads more. So it may grow in larger
 * steps. The flag is set before anything is compiled, for a code cache belongs to the flags it was made with.
 */
export function createCodeLoader(url: string): CodeLoader {
  setFlagsFromString("--semi-space-growth-factor=4");
  const filename = fileURLToPath(url);
  const readFrom = folderIn(stateRootOf(process.argv.slice(2), process.env));
  const fresh = new Map<LinkedText, Script>();
  let folder: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const schedule = (): void => {
    if (folder !== undefined) timer ??= setTimeout(flush, settlingMs).unref();
  };

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (folder === undefined) return;
    for (const [linked, script] of fresh) writeCache(folder, linked, script.createCachedData());
    fresh.clear();
  }

  return {
    load(linked) {
      const cachedData = readCache(readFrom, linked);
      const script = new Script(linked.text, {
        filename,
        lineOffset: linked.line,
        importModuleDynamically: textImports(),
        ...(cachedData !== undefined && { cachedData }),
      });
      if (cachedData === undefined || script.cachedDataRejected === true) {
        fresh.set(linked, script);
        schedule();
      }
      return script.runInThisContext();
    },
    keepIn(stateRoot) {
      folder = folderIn(stateRoot);
      if (fresh.size > 0) schedule();
    },
    flush,
    importModule: (url) => import(url),
  };
}

/** The state root as the flags and variables of `boot` have it; needed before the code that reads them is there. */
function stateRootOf(args: readonly string[], environment: NodeJS.ProcessEnv): string {
  const index = args.findLastIndex((arg) => arg === "--state-root" || arg.startsWith("--state-root="));
  const arg = args[index];
  const flag =
    arg?.includes("=") === true ? arg.slice(arg.indexOf("=") + 1) : index === -1 ? undefined : args[index + 1];
  return flag || environment.BDK_STATE_ROOT || ".bdk";
}

function folderIn(stateRoot: string): string {
  return join(resolve(stateRoot), "code-cache");
}

/** The cache of a text, if there is one of exactly this text and not a byte of it is damaged. */
function readCache(folder: string, { name, digest }: LinkedText): Buffer | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(folder, `${name}.bin`));
  } catch {
    return undefined; // the first start, or a folder that may not be read: then it is compiled
  }
  if (bytes.length <= headerBytes) return undefined;
  const code = bytes.subarray(headerBytes);
  const isOfText = bytes.subarray(0, digestBytes).toString("hex") === digest;
  return isOfText && bytes.readUInt32LE(digestBytes) === crc32(code) ? code : undefined;
}

/** In one step, so that a process that starts meanwhile never sees half of it. A cache that can't be kept is none. */
function writeCache(folder: string, { name, digest }: LinkedText, code: Buffer): void {
  const file = join(folder, `${name}.bin`);
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const header = Buffer.alloc(headerBytes);
    header.write(digest, "hex");
    header.writeUInt32LE(crc32(code), digestBytes);
    writeFileSync(temporary, Buffer.concat([header, code]), { mode: 0o600 });
    renameSync(temporary, file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
  }
}
