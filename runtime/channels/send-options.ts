/** What project code says of a message that it sends: often it comes from a request, and nobody has looked at it. */
import { isAbsolute } from "node:path";
import type { PackSendOptions } from "./packs.js";

/** Why a message can't be sent so; `undefined` when it can. */
export interface SendProblem {
  readonly code: "invalid_request" | "invalid_continuation_token";
  readonly message: string;
}

const longestKey = 512;

const enums = { admission: ["preempt", "coalesce"], mode: ["chat", "task"] } as const;

/** @param auth Who the session would belong to. */
export function problemOfSend(
  channelId: string,
  message: unknown,
  auth: unknown,
  { continuationToken: key, title, workspaceFiles, workspaceDir, ...options }: PackSendOptions,
): SendProblem | undefined {
  const invalid = (told: string): SendProblem => ({ code: "invalid_request", message: told });
  if (typeof message !== "string" || message.trim() === "") {
    return invalid(`a message to channel "${channelId}" must be a non-empty string`);
  }
  if (key !== undefined && (typeof key !== "string" || key === "" || key.length > longestKey)) {
    const told = `a continuation key is a string of 1 to ${longestKey} characters`;
    return { code: "invalid_continuation_token", message: told };
  }
  if (!isPrincipal(auth)) return invalid("auth must be { kind, id }, two non-empty strings");
  if (title !== undefined && typeof title !== "string") return invalid("title must be a string");
  for (const name of ["admission", "mode"] as const) {
    const value = options[name];
    const known: readonly unknown[] = enums[name];
    if (value !== undefined && !known.includes(value)) return invalid(`${name} must be ${known.join(" or ")}`);
  }
  if (workspaceFiles !== undefined && !isTexts(workspaceFiles)) {
    return invalid("workspaceFiles must be an object of relative paths and texts");
  }
  if (workspaceDir !== undefined && (typeof workspaceDir !== "string" || !isAbsolute(workspaceDir))) {
    return invalid("workspaceDir must be the absolute path of a folder");
  }
  return undefined;
}

/** Whether it says who somebody is. */
export function isPrincipal(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("kind" in value) || !("id" in value)) return false;
  const { kind, id } = value;
  return typeof kind === "string" && kind !== "" && typeof id === "string" && id !== "";
}

function isTexts(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((text) => typeof text === "string");
}
