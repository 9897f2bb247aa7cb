import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
} from "@modelcontextprotocol/client";

/** A login that did not work out; the message is for people and holds nothing secret. */
export class LoginError extends Error {
  override readonly name = "LoginError";
}

/** For servers whose clients are registered by hand. */
export const cannotRegister =
  "the authorization server does not let this client register itself; register one there and pass --client-id";

/** Why, in our own words: what servers and redirects say of themselves is not repeated, but for OAuth's own codes. */
export function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return signal.reason instanceof LoginError ? signal.reason.message : "it took too long";
  if (error instanceof IssuerMismatchError) {
    return error.kind === "metadata"
      ? "the authorization server's metadata is of another issuer than the one that the server named"
      : "the answer came from another issuer than the one that was asked; nothing of it was used";
  }
  if (error instanceof AuthorizationServerMismatchError) return "the authorization server changed while logging in";
  if (error instanceof InsecureTokenEndpointError)
    return "the authorization server's token endpoint is not an https URL";
  if (error instanceof RegistrationRejectedError) {
    return cannotRegister;
  }
  if (error instanceof OAuthError) return `the authorization server answered ${error.code}`;
  if (error instanceof Error && error.name === "TimeoutError") return "the server did not answer in time";
  if (error instanceof TypeError && error.cause instanceof Error) {
    const { cause } = error;
    return `the server can't be reached (${"code" in cause ? String(cause.code) : cause.message})`;
  }
  return error instanceof Error ? error.message : String(error);
}
