/** What a server lists: all of it, or what can be used of it. */
import { type Client, isSpecType, SdkError, SdkErrorCode, type Tool } from "@modelcontextprotocol/client";
import * as z from "zod/v4";

/** A list of tools, and the names of those that can't be used. */
export interface ToolList {
  readonly tools: readonly Tool[];
  /** How long the server says that it counts, in milliseconds. */
  readonly ttlMs?: number;
  readonly refused: readonly string[];
}

const page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** One tool that the protocol doesn't allow would cost all of them: then the list is read again, tool by tool. */
export async function listTools(
  client: Client,
  limits: { readonly timeout: number; readonly pages: number },
): Promise<ToolList> {
  try {
    // How long the list counts is the caller's to say: the client's own copy is passed over.
    const { tools, ttlMs } = await client.listTools(undefined, { timeout: limits.timeout, cacheMode: "refresh" });
    return { tools, refused: [], ...(typeof ttlMs === "number" && { ttlMs }) };
  } catch (error) {
    if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult) return readEach(client, limits);
    throw error;
  }
}

async function readEach(
  client: Client,
  limits: { readonly timeout: number; readonly pages: number },
): Promise<ToolList> {
  const tools: Tool[] = [];
  const refused: string[] = [];
  let cursor: string | undefined;
  for (let count = 0; count < limits.pages; count += 1) {
    const params = cursor === undefined ? {} : { cursor };
    const found = await client.request({ method: "tools/list", params }, page, { timeout: limits.timeout });
    for (const tool of found.tools) {
      if (isSpecType.Tool(tool) && !mirrorsArguments(tool)) tools.push(tool as Tool);
      else refused.push(nameOf(tool));
    }
    cursor = found.nextCursor;
    if (cursor === undefined) break;
  }
  return { tools, refused };
}

/** Arguments that go into headers have rules of their own, which were not looked at here. */
function mirrorsArguments({ inputSchema }: { readonly inputSchema: unknown }): boolean {
  return JSON.stringify(inputSchema).includes('"x-mcp-header"');
}

function nameOf(tool: unknown): string {
  const name = typeof tool === "object" && tool !== null && "name" in tool ? tool.name : undefined;
  return typeof name === "string" ? name : "one without a name";
}
