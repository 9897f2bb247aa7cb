import { StartupError } from "./environment.js";
import { renderStack } from "./stack.js";

/** Runs project code for the first time; what it throws is the project's failure, told with its own stack. */
export async function loadOrRefuse<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw new StartupError(`the project's code failed to load\n${renderStack(error)}`);
  }
}
