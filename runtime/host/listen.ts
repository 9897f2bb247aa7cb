import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { StartupError } from "./environment.js";

/** Starts to listen. An address that cannot be used is told as the operator's to mend. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<AddressInfo> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw toStartupError(error, host, port);
  }
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new StartupError("the server has no address");
  return address;
}

/** The URL to reach a listening server at; a wildcard address is shown as this machine's own. */
export function urlOfAddress({ address, family, port }: AddressInfo, scheme: "http" | "https"): string {
  if (address === "0.0.0.0") return `${scheme}://127.0.0.1:${port}`;
  if (address === "::") return `${scheme}://[::1]:${port}`;
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** What the system says of an address, as the operator is told it. */
export function toStartupError(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EADDRINUSE":
      return new StartupError(`port ${port} on ${host} is taken; choose another with --port, or 0 for any`, code);
    case "EACCES":
      return new StartupError(`port ${port} may not be used by this user; choose one above 1023 with --port`, code);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new StartupError(`${host} is no address of this machine`, code);
    default:
      return error;
  }
}
