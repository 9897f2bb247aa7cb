/** Builds the parts named, or all; gives the number of parts that failed. */
export function buildAll(options?: {
  readonly names?: readonly string[];
  readonly force?: boolean;
  readonly clean?: boolean;
}): Promise<number>;
