/** What is there, or will be. Most tools answer at once, and a promise for each step of a call costs more than most calls do. */
export type Soon<T> = T | Promise<T>;

/**
 * Goes on with a value: at once when it is there.
 *
 * @example after(tool.prepare(input), (prepared) => prepared.run(scope))
 */
export function after<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
