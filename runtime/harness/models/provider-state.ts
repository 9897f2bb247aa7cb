import type { SharedV3ProviderMetadata } from "@ai-sdk/provider";
import type { JsonValue } from "../../session/event.js";
import type { ModelMessage } from "../harness.js";

type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;

/**
 * The parts of an assistant message in the provider's order. Texts are not written twice: a part knows how many
 * characters of the message's `text` or `reasoning` are its own.
 */
type StoredPart =
  | { readonly kind: "text" | "reasoning"; readonly length: number; readonly metadata?: SharedV3ProviderMetadata }
  | { readonly kind: "call"; readonly metadata?: SharedV3ProviderMetadata };

/** A part with its text in place. */
export type StatePart =
  | { readonly kind: "text" | "reasoning"; readonly text: string; readonly metadata?: SharedV3ProviderMetadata }
  | { readonly kind: "call"; readonly index: number; readonly metadata?: SharedV3ProviderMetadata };

/** Gathers a step's parts as they stream by. */
export interface ProviderStateRecorder {
  open(kind: "text" | "reasoning", id: string, metadata: SharedV3ProviderMetadata | undefined): void;
  append(kind: "text" | "reasoning", id: string, delta: string): void;
  close(id: string, metadata: SharedV3ProviderMetadata | undefined): void;
  call(metadata: SharedV3ProviderMetadata | undefined): void;
  hasCalls(): boolean;
  /** What has to travel back; `undefined` when the provider left nothing of its own. */
  state(): JsonValue | undefined;
}

type Recorded = { kind: "text" | "reasoning" | "call"; length: number; metadata: SharedV3ProviderMetadata | undefined };

export function createProviderStateRecorder(metadataKey: string): ProviderStateRecorder {
  const parts: Recorded[] = [];
  const byId = new Map<string, Recorded>();
  const open = (kind: "text" | "reasoning", id: string): Recorded => {
    const part: Recorded = { kind, length: 0, metadata: undefined };
    parts.push(part);
    byId.set(id, part);
    return part;
  };
  return {
    open(kind, id, metadata) {
      open(kind, id).metadata = metadata;
    },
    append(kind, id, delta) {
      // Interleaved deltas of two blocks would break the order of the joined text: a new part keeps it.
      const known = byId.get(id);
      const isLast = known !== undefined && parts.at(-1) === known;
      const part = isLast ? known : open(kind, id);
      if (known !== undefined && !isLast) part.metadata = known.metadata;
      part.length += delta.length;
    },
    close(id, metadata) {
      const part = byId.get(id);
      if (part !== undefined && metadata !== undefined) part.metadata = { ...part.metadata, ...metadata };
    },
    call(metadata) {
      parts.push({ kind: "call", length: 0, metadata });
    },
    hasCalls: () => parts.some((part) => part.kind === "call"),
    state() {
      if (parts.every((part) => part.metadata === undefined)) return undefined;
      const stored = parts.map(({ kind, length, metadata }) => ({
        kind,
        ...(kind !== "call" && { length }),
        ...(metadata !== undefined && { metadata }),
      }));
      return { key: metadataKey, parts: stored } as unknown as JsonValue;
    },
  };
}

/** A message's parts in the provider's order; `undefined` when another provider wrote them, or the texts have changed since. */
export function readProviderState(message: AssistantMessage, metadataKey: string): readonly StatePart[] | undefined {
  const state = message.provider;
  if (typeof state !== "object" || state === null || !("key" in state) || state.key !== metadataKey) return undefined;
  const rest = { text: message.text ?? "", reasoning: message.reasoning ?? "" };
  let calls = 0;
  const parts = (state as unknown as { parts: readonly StoredPart[] }).parts.map((part): StatePart => {
    const metadata = part.metadata === undefined ? {} : { metadata: part.metadata };
    if (part.kind === "call") return { kind: "call", index: calls++, ...metadata };
    const text = rest[part.kind].slice(0, part.length);
    rest[part.kind] = rest[part.kind].slice(part.length);
    return { kind: part.kind, text, ...metadata };
  });
  const isWhole = rest.text === "" && rest.reasoning === "" && calls === (message.calls?.length ?? 0);
  return isWhole ? parts : undefined;
}
