import { type CommandSpec, defineCommand } from "./command.js";
import { githubCommand } from "./github/command.js";
import { mcpCommand } from "./mcp/command.js";
import { bearerToken, dir, json, model, server, slug, stateRoot, stored, url } from "./options.js";
import { slackCommand } from "./slack/command.js";

/** Every command, in the order that help shows. The file of the same name in `commands/` runs it. */
export const commandTable = {
  init: defineCommand({
    group: "Make",
    summary: "Start a new project",
    arguments: [{ name: "dir", required: false, summary: "Folder to create; asked for on a terminal" }],
    options: {
      name: { kind: "text", value: "name", summary: "Name of the agent (default: the folder's name)" },
      model: { ...model, summary: "Model to write into bot/agent.ts (default grok-4.5)" },
      extension: { kind: "flag", summary: "Start an extension package instead, to be mounted by projects" },
      force: { kind: "flag", summary: "Write over files that are there already" },
      "dry-run": { kind: "flag", summary: "Say what would be written, and write nothing" },
      json,
    },
    examples: [
      { command: "bdk init my-agent", summary: "A project in ./my-agent, ready to run" },
      { command: "bdk init . --dry-run", summary: "What it would write here" },
      { command: "bdk init ci-triage --extension --name @acme/ci-triage", summary: "A package that projects mount" },
    ],
    notes: ["Files that exist are never touched without --force; then exit code 2 and nothing is written."],
  }),
  build: defineCommand({
    group: "Make",
    summary: "Build the server: one server.mjs and its manifest",
    arguments: [],
    options: {
      dir,
      out: { kind: "text", value: "path", summary: "Folder to write to (default <dir>/dist)" },
      include: { kind: "texts", value: "section", summary: "Link this runtime section too, such as model-openai" },
      "manifest-out": { kind: "text", value: "file", summary: "Also write the manifest here, to commit it" },
      locked: {
        kind: "flag",
        summary: "Fail when the manifest differs from the committed one (--manifest-out, else <dir>/manifest.json)",
      },
      types: { kind: "flag", summary: "Type-check as well" },
      json,
    },
    examples: [
      { command: "bdk build", summary: "Build ./dist" },
      { command: "node dist/server.mjs --port 8080", summary: "Run what was built, anywhere, without node_modules" },
      {
        command: "bdk build --locked --manifest-out agent.manifest.json",
        summary: "In CI: fail when the surface changed unnoticed",
      },
    ],
    notes: [
      "Names of unset environment variables that startup will need are warnings here and listed in the manifest.",
    ],
  }),
  validate: defineCommand({
    group: "Inspect",
    summary: "Report every problem of the project",
    arguments: [],
    options: {
      dir,
      types: { kind: "flag", summary: "Type-check as well" },
      format: {
        kind: "choice",
        values: ["pretty", "json", "github"],
        default: "pretty",
        summary: "How to print diagnostics",
      },
      json,
    },
    examples: [
      { command: "bdk validate", summary: "Check ./" },
      {
        command: "bdk validate --types --format github",
        summary: "In GitHub Actions: annotations on the pull request",
      },
      { command: "bdk validate --json | jq -r '.diagnostics[].code'", summary: "The codes only" },
    ],
    notes: ["Exit code 1 when there is an error; warnings alone are exit code 0."],
  }),
  info: defineCommand({
    group: "Inspect",
    summary: "Show what the project contains",
    arguments: [],
    options: {
      dir,
      slug,
      why: {
        kind: "text",
        value: "id",
        summary: "Tell of this entry which definition wins, what it hides, and who mounts it",
      },
      json,
    },
    examples: [
      { command: "bdk info", summary: "Tools, skills, hooks, … and where each comes from" },
      { command: "bdk info --why tool:ci__job_log", summary: "The chain behind one name: overlay, package, mount" },
      { command: "bdk info --json", summary: "The same as GET /v1/info answers" },
    ],
  }),
  manifest: defineCommand({
    group: "Inspect",
    summary: "Print the manifest, or its JSON Schema",
    arguments: [],
    options: {
      dir,
      schema: { kind: "flag", summary: "Print the JSON Schema of manifest.json instead" },
      json: { kind: "flag", summary: "As without it: the manifest is JSON" },
    },
    examples: [
      { command: "bdk manifest > agent.manifest.json", summary: "The manifest of ./" },
      { command: "bdk manifest --schema", summary: "What a manifest may hold" },
    ],
  }),
  explain: defineCommand({
    group: "Inspect",
    summary: "Explain a diagnostic code",
    arguments: [{ name: "code", required: true, summary: "BDK2003, bdk2003 or 2003" }],
    options: { json },
    examples: [{ command: "bdk explain BDK2003", summary: "What it means, an example, and how to mend it" }],
  }),
  diff: defineCommand({
    group: "Inspect",
    summary: "Compare two versions of the surface",
    arguments: [
      { name: "old", required: true, summary: "A manifest file, a built folder, a project folder or a git revision" },
      { name: "new", required: false, summary: "The same; the project in . when left out" },
    ],
    options: {
      dir: { ...dir, summary: "The project whose revisions are meant" },
      slug: { ...slug, summary: "Compare this agent only" },
      manifest: {
        kind: "text",
        value: "file",
        summary: "Manifest to read at a revision, from the project (default manifest.json or the one *.manifest.json)",
      },
      "fail-on": {
        kind: "choice",
        values: ["breaking", "risky", "any"],
        summary: "Exit with 1 when a change is this grave or graver",
      },
      markdown: { kind: "flag", summary: "Print Markdown, fit for a pull-request comment" },
      text: { kind: "off", summary: "Leave out the lines of changed texts" },
      json,
    },
    examples: [
      { command: "bdk diff HEAD~1", summary: "What the working tree changes against the last commit" },
      { command: "bdk diff main . --fail-on breaking", summary: "In CI: fail when callers would break" },
      {
        command: "bdk diff released/manifest.json dist --markdown > comment.md",
        summary: "Two builds, as a pull-request comment",
      },
    ],
    notes: [
      "Exit code 0 whatever the changes, 1 when --fail-on finds one, 2 when a side cannot be read or compiled.",
      "A path wins over a revision of the same name; refs/heads/<name> always means the branch.",
    ],
  }),
  dev: defineCommand({
    group: "Run",
    summary: "Serve, and swap the code in place on every edit",
    arguments: [],
    options: server,
    examples: [
      { command: "bdk dev --model offline", summary: "Without a key: the built-in deterministic model" },
      { command: "bdk dev --port 0 --json", summary: "One JSON event a line: listening, rebuilt, diagnostics, error" },
    ],
    notes: [
      "A turn in flight ends on the code it began with. A broken edit is reported and the last good code keeps serving.",
      "Schedules and reminders do not fire by themselves in dev.",
    ],
  }),
  serve: defineCommand({
    group: "Run",
    summary: "Serve the project from its source",
    arguments: [],
    options: {
      ...server,
      "shutdown-timeout": {
        kind: "integer",
        value: "seconds",
        min: 0,
        max: 86_400,
        summary: "How long running turns may take to end when the server is stopped (default 10)",
      },
      dev: { kind: "flag", summary: "Dev routes, and the session list of every caller on loopback" },
      standby: {
        kind: "flag",
        summary: "Wait while another server has the state root; take over when it ends or dies",
      },
    },
    examples: [
      { command: "bdk serve", summary: "http://127.0.0.1:3000/<slug>" },
      { command: "bdk serve --mode single --port 8080", summary: "One agent at the root" },
      { command: "bdk serve --host 0.0.0.0 --bearer-token $TOKEN", summary: "Reachable from elsewhere" },
      { command: "bdk serve --standby --port 3001", summary: "A second process that takes over from the first" },
    ],
    notes: ["Refuses to start when the project has errors."],
  }),
  run: defineCommand({
    group: "Run",
    summary: "Send one message and wait for the reply",
    arguments: [],
    options: {
      dir,
      url,
      slug,
      message: { kind: "text", value: "text", short: "m", summary: "The message; - reads it from stdin" },
      title: { kind: "text", value: "text", summary: "Title of the session" },
      "dry-run": { kind: "flag", summary: "Run read tools, stub write tools" },
      model,
      "bearer-token": { ...bearerToken, summary: "Token to send to the server (or BDK_BEARER_TOKEN)" },
      "state-root": stateRoot,
      text: { kind: "flag", summary: "Print the reply and nothing else" },
      json,
    },
    examples: [
      { command: 'bdk run --message "What can you do?"', summary: "In process, or on the running dev server" },
      { command: 'bdk run -m "hello" --model offline --json', summary: "Reply, tool calls, usage and cost as JSON" },
      { command: 'bdk run -m "hello" --url http://127.0.0.1:3000/my-agent', summary: "On a server that runs already" },
    ],
    notes: ["Exit code 1 for a failed turn, 3 when a tool call waits for approval. The server's log goes to stderr."],
  }),
  call: defineCommand({
    group: "Run",
    summary: "Call a tool without a model turn",
    arguments: [{ name: "tool", required: true, summary: "Name of the tool" }],
    options: {
      dir,
      url,
      slug,
      input: {
        kind: "text",
        value: "json",
        short: "i",
        default: "{}",
        summary: "Input; - reads it from stdin, @file from a file",
      },
      "bearer-token": { ...bearerToken, summary: "Token to send to the server (or BDK_BEARER_TOKEN)" },
      "state-root": stateRoot,
      json,
    },
    examples: [
      {
        command: `bdk call inspect_pr --input '{"prUrl":"https://github.com/acme/checkout/pull/42"}'`,
        summary: "The tool's result",
      },
      {
        command: "bdk call lookup --dir .. --slug support --input @in.json",
        summary: "From a folder of several projects",
      },
    ],
    notes: [
      "Prints the result; --json prints the whole answer of POST /v1/tools/:name. Exit code 1 when the tool failed.",
    ],
  }),
  sessions: defineCommand({
    group: "Inspect",
    summary: "List, show and delete stored sessions",
    arguments: [
      { name: "action", required: false, summary: "list (default), show, delete or prune" },
      { name: "sessionId", required: false, summary: "The session to show or delete" },
    ],
    options: {
      ...stored,
      limit: { kind: "integer", value: "number", min: 1, max: 500, default: 50, summary: "Most sessions to list" },
      "older-than": { kind: "text", value: "age", summary: "prune: untouched for this long, such as 12h, 30d or 8w" },
      "dry-run": { kind: "flag", summary: "Say what would be deleted, and delete nothing" },
      json,
    },
    examples: [
      { command: "bdk sessions list --limit 10", summary: "The newest ten of this project" },
      { command: "bdk sessions show ses_01ABC", summary: "Its facts, tool calls and reply" },
      { command: "bdk sessions prune --older-than 30d --dry-run", summary: "What a clean-up would delete" },
    ],
    notes: [
      "Reads the files of the state root, also while a server runs on them; list and show take --url instead.",
      "Deleting takes the session's trace and workspace along; a running server lets go of it. prune passes over sessions that run or wait for an approval. Artifacts stay.",
    ],
  }),
  trajectory: defineCommand({
    group: "Inspect",
    summary: "Print what a saved trace comes to",
    arguments: [],
    options: {
      events: { kind: "text", value: "file", summary: "Trace: <state-root>[/<slug>]/traces/<sessionId>.ndjson" },
      json: { kind: "flag", summary: "As without it: the trajectory is JSON" },
    },
    examples: [
      {
        command: "bdk trajectory --events .bdk/my-agent/traces/ses_01ABC.ndjson",
        summary: "Tool calls, reply, usage and cost, in the JSON of bdk run --json",
      },
    ],
  }),
  cost: defineCommand({
    group: "Inspect",
    summary: "Show what a session used and cost",
    arguments: [{ name: "sessionId", required: true, summary: "The session" }],
    options: { ...stored, json },
    examples: [{ command: "bdk cost ses_01ABC", summary: "Tokens and US dollars, turn by turn" }],
    notes: ["Reads the files of the state root; with --url it asks the server."],
  }),
  logs: defineCommand({
    group: "Inspect",
    summary: "Print the log of a running server",
    arguments: [],
    options: {
      ...stored,
      follow: { kind: "flag", short: "f", summary: "Go on as lines come, until Ctrl-C" },
      after: {
        kind: "integer",
        value: "seq",
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
        default: 0,
        summary: "Only lines after this one",
      },
      json: { kind: "flag", summary: "One JSON object a line" },
    },
    examples: [{ command: "bdk logs --follow", summary: "Of the server that runs on this project" }],
    notes: ["A server keeps its last 1000 lines."],
  }),
  mcp: mcpCommand,
  slack: slackCommand,
  github: githubCommand,
  help: defineCommand({
    group: "Help",
    summary: "Show help of bdk or of one command",
    arguments: [
      { name: "command", required: false, summary: "The command to explain" },
      { name: "action", required: false, summary: "One of its actions, such as oauth: told on the command's page" },
    ],
    options: { all: { kind: "flag", summary: "Every command with its options" }, json },
    examples: [
      { command: "bdk help build", summary: "The same as bdk build --help" },
      { command: "bdk help mcp oauth", summary: "The same as bdk mcp --help, which tells of its actions" },
      { command: "bdk help --all --json", summary: "Everything, for tools" },
    ],
  }),
  version: defineCommand({
    group: "Help",
    summary: "Print the version",
    arguments: [],
    options: { json },
    examples: [{ command: "bdk version --json", summary: "Versions of bdk and Node, and the platform" }],
  }),
} as const satisfies Record<string, CommandSpec>;

export type CommandTable = typeof commandTable;
export type CommandName = keyof CommandTable;

/** Names in the order of the table. */
export const commandNames = Object.keys(commandTable) as readonly CommandName[];

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commandTable, name);
}

/** A command's data without the literal types, for help and parsing. */
export function commandSpec(name: CommandName): CommandSpec {
  return commandTable[name];
}
