/** `bot/storage.ts`: where `host.kv`, `host.files` and sessions are kept. */

/** A backend, described; the host links and opens it. */
export type StorageBackend =
  | { readonly type: "file"; readonly dir?: string | undefined }
  | {
      readonly type: "postgres";
      readonly url: string;
      readonly schema: string;
      readonly poolSize?: number | undefined;
    };

export interface StorageConfig {
  /** Shown in `bdk info`. */
  readonly name?: string | undefined;
  /** From `fileKv()` or `postgres(…)`, spread into this object. */
  readonly backend: StorageBackend;
  readonly policy?:
    | {
        /** Milliseconds of quiet before a snapshot is stored. */
        readonly debounceMs?: number;
        readonly restore?: { readonly maxSessions?: number; readonly maxAgeMs?: number };
      }
    | undefined;
}

/** What `defineStorage` returns. */
export type StorageDefinition = StorageConfig & { readonly __agentServe: "storage" };

/**
 * Chooses the storage.
 *
 * @example export default defineStorage({ name: "local", ...fileKv() });
 */
export function defineStorage(config: StorageConfig): StorageDefinition {
  return { ...config, __agentServe: "storage" };
}
