import { type Finding, sides } from "../change.js";
import { list } from "../json.js";
import { kindOf } from "../rule.js";

type Chain = readonly string[] | undefined;

const everyone = "allowAll";

/** `auth`: a chain of policies, tried until one admits. One more policy is one more way in. */
export function auth(before: Chain, after: Chain, { path }: { readonly path: string }): Finding[] {
  const place = { path, kind: kindOf(before, after), ...sides(before, after) };
  if (opens(after) !== opens(before)) {
    return opens(after)
      ? [{ ...place, level: "risky", message: "auth loosened: anyone is admitted now" }]
      : [
          {
            ...place,
            level: "breaking",
            message: `auth tightened: anonymous callers are refused, ${list(after ?? [])} decide`,
          },
        ];
  }
  if (before === undefined || after === undefined) {
    return after === undefined
      ? [{ ...place, level: "risky", message: `auth dropped: was ${list(before ?? [])}` }]
      : [
          {
            ...place,
            level: "breaking",
            message: `auth of its own: ${list(after)}; callers admitted otherwise are refused`,
          },
        ];
  }
  const fresh = after.filter((policy) => !before.includes(policy));
  const gone = before.filter((policy) => !after.includes(policy));
  return [
    ...(fresh.length === 0
      ? []
      : [{ ...place, level: "risky", message: `auth loosened: ${list(fresh)} also admits` } as const]),
    ...(gone.length === 0
      ? []
      : [{ ...place, level: "breaking", message: `auth tightened: ${list(gone)} no longer admits` } as const]),
  ];
}

function opens(chain: Chain): boolean {
  return chain !== undefined && (chain.length === 0 || chain.includes(everyone));
}

/** True when a channel's routes are reachable without a policy of its own; packs bring theirs. */
export function lacksAuth(channel: { readonly auth?: Chain; readonly pack?: string | undefined }): boolean {
  return channel.auth === undefined ? channel.pack === undefined : opens(channel.auth);
}
