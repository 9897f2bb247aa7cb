import type { Manifest } from "../../../runtime/manifest/schema.js";
import type { FieldRules } from "../rule.js";
import { timing } from "./schedule.js";

/** Packages shipped beside the bundle. */
export const external: FieldRules<Manifest["externals"][number]> = {
  version: timing("version", "compatible"),
  reason: timing("reason to stay outside the bundle", "compatible"),
};
