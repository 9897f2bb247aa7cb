import type { ArtifactKind } from "../authoring/artifacts.js";
import type { AgentGeneration } from "../manifest/bundle.js";
import type { JsonValue } from "../session/event.js";
import { standardValidator } from "../tools/input.js";
import { formatPath } from "../tools/issues.js";
import { toJson } from "../tools/json-value.js";

/** How many artifacts are kept unless `max` says otherwise. */
const defaultMax = 1000;
/** Most bytes of an artifact's data as JSON: 256 KiB. */
const maxDataBytes = 256 * 1024;

/** The kinds of the running code. */
export interface ArtifactKinds {
  /** How many to keep. */
  readonly max: number;
  /** The kind meant when none is given. */
  readonly fallback: string | undefined;
  /**
   * The kind in full: code of an extension calls its own kinds by their short names. Throws when kinds are declared and
   * this is none of them.
   */
  resolve(kind: string, namespace: string | undefined): string;
  /** The data as it is stored, defaults applied. Throws saying what is wrong with it. */
  parse(kind: string, data: unknown): Promise<JsonValue | undefined>;
}

/** Reads the registry of `bot/artifacts.ts`; without one any kind goes. */
export function createArtifactKinds({ agent, definitions }: AgentGeneration): ArtifactKinds {
  const entries = new Map((agent.artifacts?.kinds ?? []).map((entry) => [entry.name, entry]));

  function schemaOf(kind: string): unknown {
    const entry = entries.get(kind);
    const { id, kind: name } = entry?.from ?? { id: agent.artifacts?.id ?? "", kind };
    const definition = definitions[id];
    if (typeof definition !== "object" || definition === null || !("kinds" in definition)) return undefined;
    return (definition.kinds as Readonly<Record<string, ArtifactKind>>)[name]?.schema;
  }

  function resolve(kind: string, namespace: string | undefined): string {
    const own = `${namespace}__${kind}`;
    if (namespace !== undefined && entries.has(own)) return own;
    if (entries.size === 0 || entries.has(kind)) return kind;
    throw new Error(
      `there is no kind "${kind}" of artifacts; bot/artifacts.ts declares ${[...entries.keys()].join(", ")}`,
    );
  }

  return {
    max: agent.artifacts?.max ?? defaultMax,
    fallback: entries.size === 0 ? "artifact" : entries.size === 1 ? [...entries.keys()][0] : undefined,
    resolve,
    async parse(kind, data) {
      const validate = standardValidator(schemaOf(kind));
      if (validate === undefined) return data === undefined ? undefined : checkSize(toJson(data));
      const checked = await validate(data);
      if ("issues" in checked && checked.issues !== undefined) {
        const told = checked.issues.map(({ path = [], message }) => `${formatPath(path) || "data"}: ${message}`);
        throw new Error(`the data of an artifact of kind "${kind}" is refused: ${told.join("; ")}`);
      }
      const { value } = checked as { readonly value: unknown };
      return value === undefined ? undefined : checkSize(toJson(value));
    },
  };
}

function checkSize(data: JsonValue): JsonValue {
  if (Buffer.byteLength(JSON.stringify(data)) > maxDataBytes) {
    throw new Error(`an artifact's data may take ${maxDataBytes} bytes; put more into its contents`);
  }
  return data;
}
