import type { IncomingMessage } from "node:http";

const heads = new WeakSet<object>();

/**
 * Routes HEAD as GET. Node has decided by then to send no body, and lengths and headers stay what GET would answer. To
 * be called before a request is routed; gives its URL back.
 */
export function routeHeadAsGet(request: { method?: string | undefined; url?: string | undefined }): string {
  if (request.method === "HEAD") {
    heads.add(request);
    request.method = "GET";
  }
  return request.url ?? "/";
}

/** Whether a request came as HEAD. */
export function isHead(request: IncomingMessage): boolean {
  return heads.has(request);
}
