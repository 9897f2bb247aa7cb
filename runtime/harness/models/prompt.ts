import type {
  JSONValue,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3ToolResultOutput,
  SharedV3ProviderMetadata,
} from "@ai-sdk/provider";
import type { ModelMessage, StepRequest, ToolSpec } from "../harness.js";
import { readProviderState } from "./provider-state.js";
import type { ProviderDialect } from "./section.js";

type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;
type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type AssistantContent = Extract<LanguageModelV3Message, { role: "assistant" }>["content"];

/** Our messages in the form of the AI SDK's provider packages. */
export function toPrompt(request: StepRequest, dialect: ProviderDialect): LanguageModelV3Message[] {
  const prompt: LanguageModelV3Message[] = [];
  if (request.system !== "") prompt.push({ role: "system", content: request.system });
  for (const message of request.messages) {
    const last = prompt.at(-1);
    if (message.role === "user") prompt.push({ role: "user", content: [{ type: "text", text: message.text }] });
    else if (message.role === "assistant")
      prompt.push({ role: "assistant", content: toAssistantContent(message, dialect) });
    else if (last?.role === "tool") last.content.push(toToolResult(message));
    else prompt.push({ role: "tool", content: [toToolResult(message)] });
  }
  const kept = prompt.filter((message) => message.role === "system" || message.content.length > 0);
  return dialect.cacheMark === undefined ? kept : markForCache(kept, dialect.cacheMark);
}

/** Our tools in the form of the provider packages; `undefined` when there are none. */
export function toTools(tools: readonly ToolSpec[]): LanguageModelV3FunctionTool[] | undefined {
  if (tools.length === 0) return undefined;
  return tools.map(({ name, description, inputSchema }) => ({
    type: "function",
    name,
    description,
    inputSchema: inputSchema as LanguageModelV3FunctionTool["inputSchema"],
  }));
}

/** In the order the provider gave its parts, when it left its own state; else reasoning, text, calls. */
function toAssistantContent(message: AssistantMessage, dialect: ProviderDialect): AssistantContent {
  const calls = message.calls ?? [];
  const call = (index: number, metadata?: SharedV3ProviderMetadata): AssistantContent => {
    const each = calls[index];
    if (each === undefined) return [];
    const { callId, toolName, args } = each;
    return [{ type: "tool-call", toolCallId: callId, toolName, input: args, ...optionsOf(metadata) }];
  };
  const state = readProviderState(message, dialect.metadataKey);
  if (state !== undefined) {
    return state.flatMap((part): AssistantContent => {
      if (part.kind === "call") return call(part.index, part.metadata);
      if (part.kind === "text")
        return part.text === "" ? [] : [{ type: "text", text: part.text, ...optionsOf(part.metadata) }];
      const isKept = part.metadata !== undefined && (dialect.keepsReasoning?.(part.metadata) ?? true);
      return isKept
        ? [{ type: "reasoning", text: part.text, ...optionsOf(part.metadata) }]
        : plainReasoning(part.text, dialect);
    });
  }
  return [
    ...plainReasoning(message.reasoning ?? "", dialect),
    ...(message.text === undefined || message.text === "" ? [] : [{ type: "text" as const, text: message.text }]),
    ...calls.flatMap((_, index) => call(index)),
  ];
}

function plainReasoning(text: string, dialect: ProviderDialect): AssistantContent {
  return dialect.sendsPlainReasoning === true && text !== "" ? [{ type: "reasoning", text }] : [];
}

function toToolResult({ callId, toolName, output, isError }: ToolMessage) {
  return { type: "tool-result" as const, toolCallId: callId, toolName, output: toOutput(output, isError) };
}

/** Text stays text, an envelope's texts and images become content, and anything else goes as JSON. */
function toOutput(output: ToolMessage["output"], isError: boolean): LanguageModelV3ToolResultOutput {
  if (typeof output === "string") return { type: isError ? "error-text" : "text", value: output };
  const content = isError ? undefined : readEnvelope(output);
  if (content !== undefined) return { type: "content", value: content };
  return { type: isError ? "error-json" : "json", value: output as JSONValue };
}

type ContentItems = Extract<LanguageModelV3ToolResultOutput, { type: "content" }>["value"];

/** The texts and images of a `{ content: […] }` envelope; `undefined` when it holds no image, or something else. */
function readEnvelope(output: ToolMessage["output"]): ContentItems | undefined {
  if (typeof output !== "object" || output === null || !("content" in output)) return undefined;
  const { content } = output as { content: unknown };
  if (!Array.isArray(content)) return undefined;
  const items: ContentItems = [];
  for (const item of content as readonly Record<string, unknown>[]) {
    if (item.type === "text" && typeof item.text === "string") items.push({ type: "text", text: item.text });
    else if (item.type === "image" && typeof item.data === "string" && typeof item.mimeType === "string") {
      items.push({ type: "image-data", data: item.data, mediaType: item.mimeType });
    } else return undefined;
  }
  return items.some((item) => item.type === "image-data") ? items : undefined;
}

function optionsOf(metadata: SharedV3ProviderMetadata | undefined) {
  return metadata === undefined ? {} : { providerOptions: metadata };
}

function markForCache(prompt: LanguageModelV3Message[], mark: SharedV3ProviderMetadata): LanguageModelV3Message[] {
  return prompt.map((message, index) =>
    message.role === "system" || index === prompt.length - 1 ? { ...message, providerOptions: mark } : message,
  );
}
