/** The default backend: plain files below the state root. */
import type { StorageBackend } from "../storage.js";

/**
 * Plain files.
 *
 * @param options `dir`: a folder other than the state root's.
 * @example export default defineStorage({ name: "files", ...fileKv() });
 */
export function fileKv(options: { readonly dir?: string } = {}): { readonly backend: StorageBackend } {
  return { backend: { type: "file", ...options } };
}
