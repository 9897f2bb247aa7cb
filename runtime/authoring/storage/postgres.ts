/** PostgreSQL, for several hosts on one store. */
import type { StorageBackend } from "../storage.js";

/** Options of `postgres`. */
export interface PostgresOptions {
  /** `postgres://…`; `${NAME}` is filled in from the environment at start. */
  readonly url: string;
  /** Default `bdk`. */
  readonly schema?: string;
  /** Connections a process holds at most. Default 10. */
  readonly poolSize?: number;
}

/**
 * A PostgreSQL database.
 *
 * @example export default defineStorage({ name: "db", ...postgres({ url: "${DATABASE_URL}" }) });
 */
export function postgres(options: PostgresOptions): { readonly backend: StorageBackend } {
  return { backend: { type: "postgres", schema: "bdk", ...options } };
}
