/**
 * The port to a model: one step at a time. The turn loop in `runtime/session` owns everything between steps
 * (tools, approvals, dry run, recovery), so it also owns these types; this file is where harnesses find them.
 * Source: decision 18.
 */
export type {
  Harness,
  HarnessResolver,
  ModelMessage,
  ModelSetting,
  StepPart,
  StepRequest,
  ToolSpec,
} from "../session/model.js";
