/** Who is calling, as an auth policy admitted it. Source: `wire.md` (Principal). */
export interface Principal {
  readonly kind: "loopback" | "bearer" | "anonymous" | "channel" | "app" | "oidc" | (string & {});
  readonly id: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** An agent of this host asks on this principal's behalf: it owns the same, and sees nothing beyond. */
  readonly isPeer?: boolean;
  /** How many agents of this host have asked one another until this request; absent when none has. */
  readonly hops?: number;
}

/** The key that sessions are owned by: `kind:id`. */
export function ownerKey(principal: Principal): string {
  return `${principal.kind}:${principal.id}`;
}
