import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { createMeter, type Meter } from "../http/meter.js";
import type { RateLimitSection } from "../http/rate-limit/contract.js";
import { StartupError } from "./environment.js";
import { urlOfAddress } from "./listen.js";
import type { HostLog } from "./log.js";
import type { HostOptions } from "./options.js";
import type { Sections } from "./sections.js";
import { createTlsFactory, type ServerFactory } from "./tls.js";

/** What a host's options put in front of its routes, made ready before it listens. */
export interface Front {
  readonly serverFactory?: ServerFactory;
  readonly meter?: Meter;
  /** Joins it with the app, before that listens. */
  attach(app: FastifyInstance): void;
  /**
   * Where agents of the same host call each other. Under TLS that is a plain port of the loopback interface: the
   * certificate is for the name that others know the host by.
   */
  listenInside(app: FastifyInstance, url: string): Promise<string>;
  close(): void;
}

/** @throws StartupError when a certificate can't be used, or the limits were not linked. */
export async function openFront(options: HostOptions, sections: Sections, log: HostLog): Promise<Front> {
  const { tlsCert, tlsKey, rateLimit } = options;
  const serverFactory =
    tlsCert === undefined || tlsKey === undefined ? undefined : createTlsFactory(tlsCert, tlsKey, log);
  const limits =
    rateLimit === undefined ? undefined : await openMeter(rateLimit, options.trustProxy === true, sections);
  let inside: Server | undefined;
  return {
    ...(serverFactory && { serverFactory }),
    ...(limits && { meter: limits.meter }),
    attach: (app) => limits?.attach(app),
    async listenInside(app, url) {
      if (serverFactory === undefined) return url;
      inside = createServer((request, response) => app.routing(request, response));
      inside.listen(0, "127.0.0.1");
      await once(inside, "listening");
      return urlOfAddress(inside.address() as AddressInfo, "http");
    },
    close() {
      inside?.close();
      inside?.closeAllConnections();
    },
  };
}

async function openMeter(
  max: number,
  trustProxy: boolean,
  sections: Sections,
): Promise<ReturnType<typeof createMeter>> {
  const section = (await sections["rate-limit"]?.()) as RateLimitSection | undefined;
  if (section === undefined) {
    throw new StartupError("this server was built without rate limits; build it with `bdk build --include rate-limit`");
  }
  return createMeter(section, { max, trustProxy });
}
