import { constants } from "node:vm";

let isQuiet = false;

/**
 * The `importModuleDynamically` of linked texts: `import()` in them works as in a module of this process. Node 20 warns
 * at its first use that the feature is experimental; nobody who runs a server can do anything about that.
 */
export function textImports(): number {
  if (!isQuiet) {
    isQuiet = true;
    const emit = process.emitWarning as (...args: unknown[]) => void;
    process.emitWarning = (...args: unknown[]) => {
      if (!String(args[0]).startsWith("vm.USE_MAIN_CONTEXT_DEFAULT_LOADER")) emit.apply(process, args);
    };
  }
  return constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
}
