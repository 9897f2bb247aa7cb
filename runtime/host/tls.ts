import { readFileSync, statSync } from "node:fs";
import type { RequestListener, Server } from "node:http";
import { StartupError } from "./environment.js";
import type { HostLog } from "./log.js";

/** Makes the server that fastify listens with. */
export type ServerFactory = (handler: RequestListener) => Server;

/** As fastify has it for its own servers, in milliseconds. */
const keepAliveTimeoutMs = 72_000;

/** How often the files are looked at, in milliseconds: certificates are renewed while a server runs. */
const lookMs = 60_000;

/**
 * A server that speaks TLS (1.2 or later) with a certificate from PEM files; the certificate's file holds the chain.
 * While it runs, files that have changed count for new connections; those that can't be used change nothing.
 * `node:https` is loaded here only.
 *
 * @throws StartupError when a file can't be read, or the two don't belong together.
 */
export function createTlsFactory(certFile: string, keyFile: string, log: HostLog): ServerFactory {
  // Not imported: nothing but HTTPS needs it, and a dynamic import is not to be had in linked code.
  const { createServer } = process.getBuiltinModule("node:https");
  const stamp = () => [certFile, keyFile].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs).join();
  const pair = readPair(certFile, keyFile);
  const atStart = stamp();
  return (handler) => {
    const server = createServer({ ...pair, keepAliveTimeout: keepAliveTimeoutMs }, handler);
    let seen = atStart;
    const look = () => {
      try {
        const now = stamp();
        if (now === seen) return;
        seen = now;
        server.setSecureContext(readPair(certFile, keyFile));
        log.info(`--tls-cert ${certFile} has changed and counts for new connections`);
      } catch (error) {
        log.warn(`the certificate stays as it was: ${error instanceof Error ? error.message : String(error)}`);
      }
    };
    const timer = setInterval(look, lookMs).unref();
    server.on("close", () => clearInterval(timer));
    // All that fastify and we use of a server is what an HTTPS server has too.
    return server as unknown as Server;
  };
}

/** What a secure context is made of, once it is sure that it can be made. */
function readPair(certFile: string, keyFile: string) {
  const cert = readPem("--tls-cert", certFile, "CERTIFICATE");
  const key = readPem("--tls-key", keyFile, "PRIVATE KEY");
  if (/^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(key)) {
    const help = `take its passphrase off, with openssl pkey -in ${keyFile} -out <file>`;
    throw new StartupError(`--tls-key ${keyFile} is encrypted: ${help}`);
  }
  const { createSecureContext } = process.getBuiltinModule("node:tls");
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    // OpenSSL's words name no part of the key.
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(`--tls-cert ${certFile} and --tls-key ${keyFile} can't be used together: ${reason}`);
  }
  return { cert, key, minVersion: "TLSv1.2" as const };
}

function readPem(flag: string, file: string, label: string): string {
  let text: string;
  try {
    text = readFileSync(file, "latin1");
  } catch (error) {
    throw new StartupError(`${flag} can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!new RegExp(`^-----BEGIN (?:[A-Z0-9]+ )*${label}-----`, "m").test(text)) {
    throw new StartupError(`${flag} ${file} holds no ${label.toLowerCase()} in PEM form`);
  }
  return text;
}
