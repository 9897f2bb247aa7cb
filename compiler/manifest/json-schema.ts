import * as z from "zod/v4";
import { manifest } from "../../runtime/manifest/schema.js";

/** The manifest's JSON Schema (draft 2020-12), as `bdk manifest --schema` prints it. */
export function manifestJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(manifest, { io: "input" });
  return { $id: "https://cursor.com/schemas/bdk/manifest-1.json", title: "BDK manifest, version 1", ...schema };
}
