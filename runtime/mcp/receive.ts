/** A POST body: which revision it speaks, one message or a batch of them, and what is answered. */
import type { Soon } from "../session/soon.js";
import type { McpEndpoint } from "./endpoint.js";
import { errorReply, isFields, type Message, type Reply, type RpcId, readMessage } from "./message.js";
import {
  batchVersion,
  codes,
  legacyVersions,
  logLevels,
  metaKeys,
  modernVersion,
  supportedVersions,
} from "./protocol.js";
import { type Exchange, serveLegacy, serveModern } from "./serve.js";

/** Most messages in one batch; what is larger is refused whole. */
export const maxBatch = 50;

/** Answers the JSON value of a body. */
export function receive(endpoint: McpEndpoint, body: unknown, exchange: Exchange): Soon<Reply> {
  return Array.isArray(body) ? receiveBatch(endpoint, body, exchange) : receiveOne(endpoint, body, exchange);
}

/** `id` of an answer to what has none: revisions up to 2025-11-25 want `null`, later ones want it left out. */
export function idOfNobody(version: unknown): null | undefined {
  return version === modernVersion ? undefined : null;
}

function receiveOne(endpoint: McpEndpoint, body: unknown, exchange: Exchange): Soon<Reply> {
  const message = readMessage(body);
  const version = exchange.headers["mcp-protocol-version"];
  const nobody = idOfNobody(version);
  switch (message.is) {
    case "malformed":
      return errorReply(400, message.id ?? nobody, codes.invalidRequest, message.message);
    case "response":
      // Nothing was asked of the client. Earlier revisions take its answers all the same.
      return version === modernVersion
        ? errorReply(400, nobody, codes.invalidRequest, "a client sends requests and notifications, no responses")
        : { status: 202 };
    case "notification":
      if (version !== undefined && !supportedVersions.includes(String(version))) return unsupported(nobody, version);
      // Since 2026-07-28 a client closes the connection instead.
      if (message.method === "notifications/cancelled" && version !== modernVersion) {
        exchange.cancel(message.params.requestId);
      }
      return { status: 202 };
    case "request":
      return receiveRequest(endpoint, message, exchange);
  }
}

type Request = Extract<Message, { is: "request" }>;

function receiveRequest(endpoint: McpEndpoint, request: Request, exchange: Exchange): Soon<Reply> {
  const { id, params } = request;
  const header = exchange.headers["mcp-protocol-version"];
  const meta = isFields(params._meta) ? params._meta : {};
  const claimed = meta[metaKeys.protocolVersion];

  if (claimed === undefined && header !== modernVersion) {
    if (header === undefined || legacyVersions.includes(String(header))) {
      return serveLegacy(endpoint, request, exchange);
    }
    return unsupported(id, header);
  }
  if (typeof claimed !== "string") {
    return errorReply(400, id, codes.invalidParams, `"_meta" must say "${metaKeys.protocolVersion}"`);
  }
  if (header !== claimed) {
    const message = `the header MCP-Protocol-Version must be what "_meta" says`;
    return errorReply(400, id, codes.headerMismatch, message);
  }
  if (legacyVersions.includes(claimed)) return serveLegacy(endpoint, request, exchange);
  if (claimed !== modernVersion) return unsupported(id, claimed);
  if (!isFields(meta[metaKeys.clientCapabilities])) {
    return errorReply(400, id, codes.invalidParams, `"_meta" must say "${metaKeys.clientCapabilities}"`);
  }
  const level = meta[metaKeys.logLevel];
  if (level !== undefined && !(typeof level === "string" && logLevels.includes(level))) {
    return errorReply(400, id, codes.invalidParams, `"${metaKeys.logLevel}" must be one of ${logLevels.join(", ")}`);
  }
  return serveModern(endpoint, request, exchange);
}

/** Batches came with 2025-03-26 and went with 2025-06-18. One after the other, so that a batch is no way around limits. */
async function receiveBatch(endpoint: McpEndpoint, body: readonly unknown[], exchange: Exchange): Promise<Reply> {
  const version = exchange.headers["mcp-protocol-version"];
  const refuse = (message: string) => errorReply(400, idOfNobody(version), codes.invalidRequest, message);
  if (version !== undefined && version !== batchVersion) return refuse(`there are no batches after ${batchVersion}`);
  if (body.length === 0) return refuse("a batch has at least one message");
  if (body.length > maxBatch) return refuse(`a batch has at most ${maxBatch} messages`);
  if (body.some((each) => isFields(each) && each.method === "initialize")) {
    return refuse("initialize is no part of a batch");
  }
  const answers: string[] = [];
  for (const each of body) {
    const reply = await receiveOne(endpoint, each, exchange);
    if (reply.body !== undefined && reply.isUnwanted !== true) answers.push(reply.body);
  }
  return answers.length === 0 ? { status: 202 } : { status: 200, body: `[${answers.join(",")}]` };
}

function unsupported(id: RpcId | null | undefined, requested: unknown): Reply {
  return errorReply(400, id, codes.unsupportedVersion, "this protocol version is not supported", {
    supported: supportedVersions,
    requested: String(requested).slice(0, 80),
  });
}
