import { cac } from "cac";
import { suggest } from "../compiler/diagnostics/suggest.js";
import { type CommandSpec, type Option, takesValue } from "./command.js";
import { type CommandName, commandNames, commandSpec, isCommandName } from "./command-table.js";
import { usageFailure } from "./exit.js";

/** What the command line asks for. */
export type Parsed =
  | { readonly kind: "overview" | "version"; readonly json: boolean }
  | { readonly kind: "help"; readonly command: CommandName; readonly json: boolean }
  | {
      readonly kind: "run";
      readonly command: CommandName;
      readonly args: readonly string[];
      /** Read by the types that the command table gives; see `Values`. */
      readonly options: Readonly<Record<string, unknown>>;
    };

/** Options by name and by letter, over all commands: a name means the same kind of option everywhere. */
const optionsByFlag = new Map<string, { readonly name: string; readonly option: Option }>();
for (const command of commandNames) {
  for (const [name, option] of Object.entries(commandSpec(command).options)) {
    optionsByFlag.set(option.kind === "off" ? `--no-${name}` : `--${name}`, { name, option });
    if ("short" in option && option.short !== undefined) optionsByFlag.set(`-${option.short}`, { name, option });
  }
}

/** Stands for an argument `-` (stdin), which cac would take for an option without a name. */
const dash = "\0-";

const camelCase = (name: string) => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
const kebabCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * Reads the arguments after `bdk`.
 *
 * @throws CommandFailure with exit code 2 for an unknown command or option, a bad value, a missing argument.
 */
export function parseCommandLine(argv: readonly string[]): Parsed {
  const cli = cac("bdk");
  cli.option("-h, --help", "Show help").option("-v, --version", "Print the version");
  for (const name of commandNames) declare(cli, name);
  const { args: rawArgs, options } = cli.parse(["node", "bdk", ...shield(argv)], { run: false });
  const given = rawArgs.map((each) => (each === dash ? "-" : String(each)));
  const args = [...given, ...(options["--"] as readonly string[])];
  const json = options.json === true;
  const matched = cli.matchedCommandName;

  if (matched === undefined || !isCommandName(matched)) {
    const [asked] = args;
    if (asked !== undefined) throw unknownCommand(asked);
    if (options.version === true) return { kind: "version", json };
    const stray = Object.keys(options).find((key) => !["--", "help", "h", "version", "v", "json"].includes(key));
    if (stray !== undefined) throw unknownOption(stray, options[stray], undefined);
    return { kind: "overview", json };
  }

  const spec = commandSpec(matched);
  if (options.help === true) return { kind: "help", command: matched, json };
  const known = new Set(["--", "help", "h", "version", "v"]);
  for (const [name, option] of Object.entries(spec.options)) {
    known.add(camelCase(name));
    if ("short" in option && option.short !== undefined) known.add(option.short);
  }
  for (const key of Object.keys(options)) if (!known.has(key)) throw unknownOption(key, options[key], matched);
  checkArguments(matched, spec, args);
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(spec.options)) {
    values[name] = readValue(matched, name, option, options[camelCase(name)]);
  }
  return { kind: "run", command: matched, args, options: values };
}

function declare(cli: ReturnType<typeof cac>, name: CommandName): void {
  const spec = commandSpec(name);
  const args = spec.arguments.map((each) => (each.required ? `<${each.name}>` : `[${each.name}]`));
  const command = cli.command([name, ...args].join(" "), spec.summary);
  for (const [key, option] of Object.entries(spec.options)) {
    const short = "short" in option && option.short !== undefined ? `-${option.short}, ` : "";
    const long = option.kind === "off" ? `--no-${key}` : `--${key}`;
    command.option(`${short}${long}${takesValue(option) ? " <value>" : ""}`, option.summary);
  }
}

/**
 * cac turns values that look like numbers into numbers and refuses values that begin with a dash: a token `0123` or a
 * message `- one` would come out changed. So every value travels behind `=`, as `--name==value`, and flags as `--name=true`.
 */
function shield(argv: readonly string[]): readonly string[] {
  const shielded: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const token = argv[i] ?? "";
    if (token === "--") return [...shielded, ...argv.slice(i)];
    const equals = token.startsWith("-") ? token.indexOf("=") : -1;
    const flag = equals === -1 ? token : token.slice(0, equals);
    const found = optionsByFlag.get(flag);
    if (found?.option.kind === "flag" && equals !== -1 && !/=(true|false)$/.test(token)) {
      throw usageFailure("badOptionValue", { message: `${flag} takes no value`, help: `write ${flag} alone` });
    }
    if (token === "-") shielded.push(dash);
    else if (found === undefined || found.option.kind === "off") shielded.push(token);
    else if (takesValue(found.option)) {
      const next = argv[i + 1];
      if (equals !== -1) shielded.push(`--${found.name}==${token.slice(equals + 1)}`);
      else if (next !== undefined && !isFlag(next)) {
        shielded.push(`--${found.name}==${next}`);
        i++;
      } else shielded.push(`--${found.name}`);
    } else shielded.push(`--${found.name}=${equals === -1 ? "true" : token.slice(equals + 1)}`);
  }
  return shielded;
}

function isFlag(token: string): boolean {
  const name = token.split("=", 1)[0] ?? token;
  return optionsByFlag.has(name) || ["--", "--help", "-h", "--version", "-v"].includes(name);
}

function unknownCommand(asked: string): Error {
  const close = suggest(asked, commandNames);
  return usageFailure("unknownCommand", {
    message: `unknown command "${asked}"`,
    help: close === undefined ? "bdk help lists the commands" : `did you mean bdk ${close}?`,
  });
}

function unknownOption(key: string, value: unknown, command: CommandName | undefined): Error {
  const shown = key.length === 1 ? `-${key}` : `--${value === false ? "no-" : ""}${kebabCase(key)}`;
  const spec = command === undefined ? undefined : commandSpec(command);
  const known = Object.entries(spec?.options ?? { json: { kind: "flag" } }).map(([name, option]) =>
    option.kind === "off" ? `--no-${name}` : `--${name}`,
  );
  const close = suggest(shown, [...known, "--help"]);
  return usageFailure("unknownOption", {
    message: command === undefined ? `unknown option ${shown}` : `bdk ${command} has no option ${shown}`,
    help:
      close === undefined
        ? `bdk ${command ?? ""} --help lists the options`.replace("  ", " ")
        : `did you mean ${close}?`,
  });
}

function checkArguments(command: CommandName, spec: CommandSpec, args: readonly string[]): void {
  const missing = spec.arguments.find((each, position) => each.required && args[position] === undefined);
  const usage = usageLine(command, spec);
  if (missing !== undefined) {
    throw usageFailure("badArgument", { message: `bdk ${command} needs <${missing.name}>`, help: usage });
  }
  const surplus = args[spec.arguments.length];
  if (surplus !== undefined) {
    throw usageFailure("badArgument", { message: `bdk ${command} does not take "${surplus}"`, help: usage });
  }
}

/** `usage: bdk call <tool> [options]` */
export function usageLine(command: CommandName, spec: CommandSpec): string {
  const args = spec.arguments.map((each) => (each.required ? `<${each.name}>` : `[${each.name}]`));
  return ["usage: bdk", command, ...args, "[options]"].join(" ");
}

function readValue(command: CommandName, name: string, option: Option, given: unknown): unknown {
  const values = (Array.isArray(given) ? given : given === undefined ? [] : [given]) as readonly unknown[];
  const bad = (message: string, help: string) => usageFailure("badOptionValue", { message, help });
  if (option.kind === "off") return values.at(-1) !== false;
  if (option.kind === "flag") {
    const last = values.at(-1);
    if (last === undefined || last === false || last === "false") return false;
    if (last === true || last === "true") return true;
    throw bad(`--${name} takes no value`, `write --${name} alone`);
  }
  const texts = values.map((each) => {
    if (typeof each === "string") return each.slice(1);
    throw bad(
      `--${name} needs a value`,
      `bdk ${command} --${name} <${"value" in option ? option.value : option.values.join("|")}>`,
    );
  });
  const last = texts.at(-1);
  if (option.kind === "texts") return texts.flatMap((each) => each.split(",")).filter((each) => each !== "");
  if (option.kind === "text") return last ?? option.default;
  if (last === undefined) return option.default;
  if (option.kind === "choice") {
    if (option.values.includes(last)) return last;
    const close = suggest(last, option.values);
    throw bad(
      `--${name} cannot be "${last}"`,
      close === undefined
        ? `one of ${option.values.join(", ")}`
        : `did you mean ${close}? It is one of ${option.values.join(", ")}`,
    );
  }
  const number = /^\d{1,15}$/.test(last) ? Number(last) : Number.NaN;
  if (number >= option.min && number <= option.max) return number;
  throw bad(`--${name} cannot be "${last}"`, `an integer from ${option.min} to ${option.max}`);
}
