/** `bot/otel.ts`: OpenTelemetry export, when the environment's `OTEL_*` variables aren't enough. */

export interface OtelConfig {
  /** Default: the agent's name. */
  readonly serviceName?: string | undefined;
  /** Base URL of an OTLP/HTTP collector. */
  readonly endpoint?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Attributes of the resource. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** Also records prompts, replies and tool arguments. Default false. */
  readonly captureContent?: boolean | undefined;
}

/** Called once at startup, so it may read secrets. */
export type OtelFactory = (context: { readonly agent: { readonly name: string } }) => OtelConfig | Promise<OtelConfig>;

/** What `defineOtel` returns. */
export interface OtelDefinition {
  readonly __agentServe: "otel";
  readonly create: OtelFactory;
}

/**
 * Configures telemetry at startup.
 *
 * @example export default defineOtel(() => ({ endpoint: process.env.COLLECTOR_URL }));
 */
export function defineOtel(create: OtelFactory): OtelDefinition {
  return { create, __agentServe: "otel" };
}
