import type { Login } from "../../runtime/connections/logins.js";

/** How long the authorization server may take, in milliseconds. */
const timeoutMs = 10_000;

/**
 * Tells the authorization server that a login's tokens are not used any more (RFC 7009).
 *
 * @returns whether it has taken them back; `undefined` when it has no such endpoint
 */
export async function revoke(login: Login): Promise<boolean | undefined> {
  const endpoint: unknown = Reflect.get(login.authorizationServer.metadata ?? {}, "revocation_endpoint");
  if (typeof endpoint !== "string" || !URL.canParse(endpoint)) return undefined;
  const { client_id: id, client_secret: secret } = login.client;
  const { access_token: access, refresh_token: refresh } = login.tokens;
  const kinds = [["refresh_token", refresh] as const, ["access_token", access] as const];
  const answers = await Promise.all(
    kinds.map(async ([kind, token]) => {
      if (token === undefined) return true;
      const headers: Record<string, string> = {};
      const body = new URLSearchParams({ token, token_type_hint: kind });
      if (secret === undefined) body.set("client_id", id);
      else
        headers.authorization = `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`;
      const answer = await fetch(endpoint, {
        method: "POST",
        headers,
        body,
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      }).catch(() => undefined);
      await answer?.body?.cancel();
      return answer?.ok === true;
    }),
  );
  // Ending the refresh token ends the grant; some servers do not take access tokens at all.
  return answers[refresh === undefined ? 1 : 0] === true;
}
