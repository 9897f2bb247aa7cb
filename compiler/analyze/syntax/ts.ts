import { createRequire } from "node:module";
import type * as TsMorph from "ts-morph";

/**
 * TypeScript's parser, as ts-morph carries it; types come from `import type { ts as Ts } from "ts-morph"`.
 * By `require`, because an import would first search its nine megabytes for names of exports.
 */
export const { ts } = createRequire(import.meta.url)("ts-morph") as typeof TsMorph;
