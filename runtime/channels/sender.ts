import { RuntimeError } from "../errors.js";
import type { ChannelRequest } from "./contract.js";

/** Refuses who is not known as a pack's sender. Counted, as known senders are not: many don't send again what was refused. */
export async function turnAway(request: ChannelRequest, channelId: string): Promise<never> {
  await request.meter?.(undefined);
  throw new RuntimeError("unauthorized", `channel "${channelId}" does not admit this request`);
}

/** The value of a header, by its lower-case name; of several, as they would stand in one line. */
export function headerOf({ headers }: Pick<ChannelRequest, "headers">, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "object" ? value.join(", ") : value;
}
