/** The model's tools for reminders of its own conversation: `builtinTools: { reminders: true }`. */
import type { HostRemindersApi, ReminderCreate } from "../authoring/host.js";
import type { ToolSpec } from "../session/model.js";
import type { CallableTool, CallOutcome, SessionRecord } from "../session/ports.js";
import { refuseInput } from "../tools/issues.js";
import { toJson } from "../tools/json-value.js";
import { failed, failedWith } from "../tools/result.js";

export const createReminderName = "reminders_create";
export const listRemindersName = "reminders_list";
export const cancelReminderName = "reminders_cancel";

const text = (description: string) => ({ type: "string", description });

const createSpec: ToolSpec = {
  name: createReminderName,
  description:
    "Wakes this conversation later with a prompt, once (delay or at) or again and again (every or cron). Give exactly one of the four. The prompt is all you are told then: say what to look at again, not what it looked like.",
  inputSchema: {
    type: "object",
    properties: {
      purpose: text("What it is for, in a word or two, such as ci_recheck."),
      prompt: text("What you are told when it fires."),
      delay: text('How long from now: "90s", "2h", "3d".'),
      at: text("An instant with its time zone: 2026-03-01T09:00:00Z."),
      every: text('How often: "30m", "1d".'),
      cron: text("Five cron fields, UTC."),
      until: text("The condition under which it is to be cancelled; you are told it each time."),
    },
    required: ["purpose", "prompt"],
    additionalProperties: false,
  },
};

const listSpec: ToolSpec = {
  name: listRemindersName,
  description: "Lists the reminders of this conversation.",
  inputSchema: { type: "object", properties: {}, additionalProperties: false },
};

const cancelSpec: ToolSpec = {
  name: cancelReminderName,
  description: "Cancels a reminder of this conversation.",
  inputSchema: {
    type: "object",
    properties: { id: text("Its id, as it was listed: rem_….") },
    required: ["id"],
    additionalProperties: false,
  },
};

type Fields = Readonly<Record<string, unknown>>;
type Act = (reminders: HostRemindersApi, fields: Fields) => Promise<CallOutcome>;

/** The three tools with what the model is told of each. */
export function createReminderTools(
  reminders: (record: SessionRecord | undefined) => HostRemindersApi,
): readonly { readonly tool: CallableTool; readonly spec: ToolSpec }[] {
  const make = (spec: ToolSpec, effect: "read" | "write", act: Act) => ({
    spec,
    tool: createTool(spec, effect, reminders, act),
  });
  return [
    make(createSpec, "write", async (api, fields) => ({
      output: toJson(await api.create(fields as unknown as ReminderCreate)),
      isError: false,
    })),
    make(listSpec, "read", async (api) => ({ output: toJson({ reminders: await api.list() }), isError: false })),
    make(cancelSpec, "write", async (api, { id }) => {
      if (!(await api.cancel(String(id)))) return failed(`This conversation has no reminder "${String(id)}".`);
      return { output: { cancelled: true }, isError: false };
    }),
  ];
}

function createTool(
  { name, inputSchema }: ToolSpec,
  effect: "read" | "write",
  reminders: (record: SessionRecord | undefined) => HostRemindersApi,
  act: Act,
): CallableTool {
  const { properties = {}, required = [] } = inputSchema as {
    readonly properties?: Fields;
    readonly required?: readonly string[];
  };
  return {
    name,
    execution: "server",
    modelOnly: true,
    prepare(input) {
      const given = typeof input === "object" && input !== null ? Object.entries(input) : [];
      // Models say null for what they leave out.
      const fields: Fields = Object.fromEntries(given.filter(([, value]) => value !== null));
      const issues = [
        ...Object.keys(fields)
          .filter((key) => !Object.hasOwn(properties, key))
          .map((path) => ({ path, message: "is no field of this tool" })),
        ...Object.keys(properties)
          .filter((key) => typeof fields[key] !== "string" && (fields[key] !== undefined || required.includes(key)))
          .map((path) => ({ path, message: "must be a string" })),
      ];
      if (issues.length > 0) return refuseInput(name, issues);
      return {
        effect,
        needsApproval: () => false,
        async run({ record }) {
          if (effect === "write" && record?.dryRun === true) {
            const output = { dryRun: true, message: `This is a dry run: "${name}" was not carried out.` };
            return { output, isError: false, stubbed: true };
          }
          try {
            return await act(reminders(record), fields);
          } catch (error) {
            return failedWith(error);
          }
        },
      };
    },
  };
}
