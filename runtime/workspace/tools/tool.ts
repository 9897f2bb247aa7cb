import { realpath } from "node:fs/promises";
import type { JsonObject, JsonValue } from "../../session/event.js";
import { type Field, type InputOf, type Problems, readInput, schemaOf } from "./fields.js";

/** Where a built-in tool acts. */
export interface ToolPlace {
  /** Path of the working directory (its real path, where a tool runs); nothing outside it is read or written. */
  readonly root: string;
  readonly signal: AbortSignal | undefined;
  /** Value of `BDK_SESSION`, from which agent tools that are run from a shell know their session. */
  readonly session: string;
  /** `shell` runs without network, in the working directory only. */
  readonly sandbox: boolean;
}

/** A tool that comes with the framework and acts on the working directory. */
export interface WorkspaceTool {
  readonly name: string;
  readonly description: string;
  readonly effect: "read" | "write";
  readonly inputSchema: JsonObject;
  /** Runs it with input that is checked here. A `ToolFailure` is told to the model. */
  readonly prepare: (
    input: unknown,
  ) => { readonly run: (place: ToolPlace) => Promise<JsonValue> } | { readonly issues: Problems };
}

/** A failure whose message is written for the model: what was wrong, and what would be right. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";
}

interface Definition<F extends Readonly<Record<string, Field<unknown>>>> {
  readonly name: string;
  readonly description: string;
  readonly effect: "read" | "write";
  readonly input: F;
  readonly run: (input: InputOf<F>, place: ToolPlace) => Promise<JsonValue>;
}

/** Makes a tool of its fields and what it does. */
export function workspaceTool<F extends Readonly<Record<string, Field<unknown>>>>({
  input: fields,
  run,
  ...facts
}: Definition<F>): WorkspaceTool {
  return {
    ...facts,
    inputSchema: schemaOf(fields),
    prepare(input) {
      const read = readInput(fields, input);
      return "issues" in read
        ? read
        : { run: async (place) => run(read.value, { ...place, root: await realpath(place.root) }) };
    },
  };
}
