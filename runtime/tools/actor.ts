import type { ConnectionTools } from "../connections/mount.js";
import type { HarnessResolver, ModelSetting, ToolSpec } from "../session/model.js";
import type { Actor, CallableTool, SessionRecord } from "../session/ports.js";
import type { Builtins } from "./builtins.js";

export interface ActorParts {
  readonly model: ModelSetting;
  readonly harnesses: HarnessResolver;
  readonly system: (record: SessionRecord) => string;
  /** Tools of the project and of the framework, with what the model is told of each. */
  readonly tools: ReadonlyMap<string, { readonly tool: CallableTool; readonly spec?: ToolSpec }>;
  /** Names of the built-in tools it may use besides; a tool above of the same name wins. */
  readonly allowed: readonly string[];
  readonly builtins: Builtins | undefined;
  /** Tools of MCP connections; one above of the same name wins. */
  readonly connections: ConnectionTools | undefined;
}

/** Who takes model steps, with its own prompt, model and tools. */
export function createActor(parts: ActorParts): Actor {
  const { model, harnesses, system, tools, builtins, connections } = parts;
  const own = [...tools.values()].flatMap(({ spec }) => (spec === undefined ? [] : [spec]));
  const names = builtins === undefined ? [] : parts.allowed.filter((name) => name !== "task" && !tools.has(name));
  const ready = new Map(
    names.flatMap((name) => (builtins === undefined ? [] : [[name, builtins.tool(name)] as const])),
  );
  let specs: readonly ToolSpec[] | undefined = names.length === 0 ? own : undefined;

  async function loadSpecs(): Promise<readonly ToolSpec[]> {
    specs = [...own, ...((await builtins?.specs(names)) ?? [])];
    return specs;
  }

  const fixed = [...own.map(({ name }) => name), ...names];
  if (connections === undefined) {
    return {
      model,
      harness: () => harnesses.resolve(model),
      system,
      specs: () => specs ?? loadSpecs(),
      tool: (name) => tools.get(name)?.tool ?? ready.get(name),
      toolNames: fixed,
    };
  }
  const isTaken = (name: string) => tools.has(name) || ready.has(name);
  return {
    model,
    harness: () => harnesses.resolve(model),
    system,
    async specs() {
      const [first, lent] = await Promise.all([specs ?? loadSpecs(), connections.specs()]);
      return [...first, ...lent.filter(({ name }) => !isTaken(name))];
    },
    tool: (name) => tools.get(name)?.tool ?? ready.get(name) ?? lentTool(connections, name),
    get toolNames() {
      return [...fixed, ...connections.knownNames().filter((name) => !isTaken(name))];
    },
  };
}

function lentTool(connections: ConnectionTools, name: string): Promise<CallableTool | undefined> | undefined {
  return connections.mayHave(name) ? connections.tool(name) : undefined;
}
