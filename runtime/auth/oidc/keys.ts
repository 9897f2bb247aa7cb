import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTVerifyGetKey } from "jose";
import type { Log } from "../../session/ports.js";
import { messageOf } from "../../tools/result.js";
import { providerTimeoutMs } from "./discovery.js";

/** Keys are read again after this long, so that one that was taken back stops counting, in milliseconds. */
const freshMs = 10 * 60_000;
/** A token of an unknown key makes us look again, though not more often than this, in milliseconds. */
const cooldownMs = 30_000;
/** While the provider is away, the keys it last gave count for this long, in milliseconds. */
const staleMs = 60 * 60_000;
/** After a failure the provider is left alone for this long, in milliseconds. */
const retryMs = 5_000;
/** Where the keys are is asked again after this long, in milliseconds. */
const locatedMs = 60 * 60_000;

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

/** The provider's keys can't be had, and none that it gave earlier fits. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/**
 * The keys of a provider, for `jwtVerify`. They are cached; an unknown key id has them read again (key rotation); an
 * outage of the provider is bridged with the keys that it gave last.
 *
 * @param locate finds the URL of the key set
 */
export function createProviderKeys(issuer: string, locate: () => Promise<URL>, log: Log): JWTVerifyGetKey {
  let located: { readonly at: number; readonly keys: Promise<RemoteKeys> } | undefined;
  /** The last set that answered, and when. */
  let good: { readonly keys: RemoteKeys; readonly at: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  function current(): Promise<RemoteKeys> {
    if (located === undefined || Date.now() - located.at > locatedMs) {
      const keys = locate().then((url) => {
        // The same place: what is cached stays.
        if (good !== undefined && placeOf.get(good.keys) === url.href) return good.keys;
        const made = createRemoteJWKSet(url, {
          cacheMaxAge: freshMs,
          cooldownDuration: cooldownMs,
          timeoutDuration: providerTimeoutMs,
        });
        placeOf.set(made, url.href);
        return made;
      });
      located = { at: Date.now(), keys };
    }
    return located.keys;
  }

  const fromLast: JWTVerifyGetKey = async (header, token) => {
    const known = good !== undefined && Date.now() - good.at <= staleMs ? good.keys.jwks() : undefined;
    if (known === undefined) throw new KeysUnavailable();
    try {
      return await createLocalJWKSet(known)(header, token);
    } catch (error) {
      // It may be a key that the provider has begun to use since.
      throw error instanceof errors.JWKSNoMatchingKey ? new KeysUnavailable() : error;
    }
  };

  return async (header, token) => {
    if (Date.now() - failedAt < retryMs) return fromLast(header, token);
    let keys: RemoteKeys | undefined;
    try {
      keys = await current();
      const key = await keys(header, token);
      good = { keys, at: Date.now() };
      return key;
    } catch (error) {
      // The set is there: what failed is making a key of the entry that the token names.
      if (isAboutTheToken(error) || (!(error instanceof errors.JOSEError) && keys?.fresh === true)) {
        if (keys !== undefined) good = { keys, at: Date.now() };
        throw error;
      }
      failedAt = Date.now();
      located = undefined;
      log("warn", `the keys of the issuer ${issuer} can't be read: ${messageOf(error)}`);
      return fromLast(header, token);
    }
  };
}

const placeOf = new WeakMap<RemoteKeys, string>();

/** The keys were there, and none, or more than one, is the token's. */
function isAboutTheToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}
