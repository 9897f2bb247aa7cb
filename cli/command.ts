/** What a command is: plain data that help, parsing and typing all read. The code behind it loads only when it runs. */

interface Described {
  readonly summary: string;
}

/** `--json`: present or not. */
export interface FlagOption extends Described {
  readonly kind: "flag";
  readonly short?: string;
}
/** `--no-docs`: turns something off that is on. Its value is `false` when given. */
export interface OffOption extends Described {
  readonly kind: "off";
}
/** `--dir <path>`: one string. */
export interface TextOption extends Described {
  readonly kind: "text";
  readonly value: string;
  readonly short?: string;
  readonly default?: string;
}
/** `--include <section>`, repeatable; commas separate too. */
export interface TextsOption extends Described {
  readonly kind: "texts";
  readonly value: string;
}
/** `--port <number>`: an integer in a range. */
export interface IntegerOption extends Described {
  readonly kind: "integer";
  readonly value: string;
  readonly min: number;
  readonly max: number;
  readonly default?: number;
}
/** `--format <pretty|json|github>`: one of a list. */
export interface ChoiceOption<V extends string = string> extends Described {
  readonly kind: "choice";
  readonly values: readonly V[];
  readonly default?: V;
}

export type Option = FlagOption | OffOption | TextOption | TextsOption | IntegerOption | ChoiceOption;
export type Options = Readonly<Record<string, Option>>;

export interface Argument extends Described {
  readonly name: string;
  readonly required: boolean;
}

export interface Example {
  readonly command: string;
  readonly summary: string;
}

export interface CommandSpec<O extends Options = Options> {
  readonly summary: string;
  /** Heading of the overview that it stands under. */
  readonly group: "Make" | "Run" | "Inspect" | "Help";
  readonly arguments: readonly Argument[];
  readonly options: O;
  readonly examples: readonly Example[];
  /** Further prose of `bdk <command> --help`: what it prints, which exit codes it has. */
  readonly notes?: readonly string[];
}

type ValueOf<T extends Option> = T extends { kind: "flag" }
  ? boolean
  : T extends { kind: "off" }
    ? boolean
    : T extends { kind: "texts" }
      ? readonly string[]
      : T extends { kind: "integer"; default: number }
        ? number
        : T extends { kind: "integer" }
          ? number | undefined
          : T extends { kind: "choice"; values: readonly (infer V)[]; default: string }
            ? V
            : T extends { kind: "choice"; values: readonly (infer V)[] }
              ? V | undefined
              : T extends { kind: "text"; default: string }
                ? string
                : string | undefined;

/** Values of a command's options, by name without dashes. */
export type Values<O extends Options> = { readonly [K in keyof O]: ValueOf<O[K]> };

/** What a command's `run` gets. */
export interface Invocation<S extends CommandSpec> {
  readonly args: readonly string[];
  readonly options: Values<S["options"]>;
}

/** Keeps the literal types of a command's data. */
export function defineCommand<const O extends Options>(spec: CommandSpec<O>): CommandSpec<O> {
  return spec;
}

/** True for options that take a value. */
export function takesValue(option: Option): boolean {
  return option.kind !== "flag" && option.kind !== "off";
}
