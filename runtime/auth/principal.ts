/** Who is calling, as an auth policy admitted it. Source: `wire.md` (Principal). */
export interface Principal {
  readonly kind: "loopback" | "bearer" | "anonymous" | "channel" | "app" | "oidc" | (string & {});
  readonly id: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The key that sessions are owned by: `kind:id`. */
export function ownerKey(principal: Principal): string {
  return `${principal.kind}:${principal.id}`;
}
