import type { Caller } from "../session/service.js";
import { operatorId } from "./policy.js";
import { ownerKey, type Principal } from "./principal.js";

/**
 * The caller as the session core sees it. Sessions of every principal are open to the operator's token, to everyone
 * under `--allow-anonymous`, and to loopback callers of a `--dev` host that listens on loopback. Source: `wire.md`.
 */
export function toCaller(
  principal: Principal,
  host: { readonly dev: boolean; readonly loopbackOnly: boolean; readonly allowAnonymous: boolean },
): Caller {
  const isPeer = principal.isPeer === true;
  const isOperator = principal.kind === "bearer" && principal.id === operatorId;
  const isLocalDev = host.dev && host.loopbackOnly && principal.kind === "loopback";
  return {
    owner: ownerKey(principal),
    seesAll: !isPeer && (isOperator || isLocalDev || (host.allowAnonymous && principal.kind === "anonymous")),
    auth: {
      kind: principal.kind,
      id: principal.id,
      ...(principal.claims === undefined ? {} : { claims: principal.claims }),
      ...(principal.hops === undefined ? {} : { hops: principal.hops }),
    },
  };
}
