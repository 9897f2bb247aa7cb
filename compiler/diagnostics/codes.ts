import type { Severity } from "./diagnostic.js";

interface Code {
  readonly code: string;
  readonly severity: Severity;
  /** One line, without the particulars of a case. */
  readonly title: string;
}

/**
 * Every code there is. Codes are permanent: never reuse or renumber one. By phase: 1xxx scan, 2xxx definitions,
 * 3xxx evaluation and schemas, 4xxx resolution, 5xxx manifest and diff, 6xxx emit, 7xxx runtime, 8xxx CLI,
 * 9xxx a bug of ours. Each has a page `docs/reference/errors/<code>.md` and at least one fixture.
 */
export const codes = {
  unknownFolder: { code: "BDK1001", severity: "warning", title: "Unknown folder in the project" },
  noProject: { code: "BDK1002", severity: "error", title: "There is no project here" },
  bothRoots: { code: "BDK1003", severity: "error", title: "Both bot/ and agent/ are present" },
  badSlug: { code: "BDK1004", severity: "error", title: "The folder's name can't be a slug" },
  reservedSlug: { code: "BDK1005", severity: "error", title: "The slug is reserved" },
  wrongExtension: { code: "BDK1006", severity: "error", title: "The file's extension is not one this folder takes" },
  nestedFile: {
    code: "BDK1007",
    severity: "error",
    title: "The folder is flat: files in subfolders are not discovered",
  },
  reservedSeparator: { code: "BDK1008", severity: "error", title: "A name contains the reserved separator __" },
  badName: { code: "BDK1009", severity: "error", title: "The name is not allowed" },
  evalsInBase: { code: "BDK1010", severity: "warning", title: "Evals stand inside bot/" },
  evalConfigMissing: { code: "BDK1011", severity: "warning", title: "Evals without evals/evals.config.ts" },
  skillFileMissing: { code: "BDK1012", severity: "error", title: "A skill's folder has no SKILL.md" },
  subagentFileMissing: { code: "BDK1013", severity: "error", title: "A subagent has no agent.ts" },
  subagentCapability: { code: "BDK1014", severity: "warning", title: "A subagent can't bring this" },
  mountFileMissing: { code: "BDK1015", severity: "error", title: "A mount's folder has no extension.ts" },
  extensionPathIgnored: { code: "BDK1016", severity: "warning", title: "An extension can't bring this" },
  misplacedFile: { code: "BDK1017", severity: "warning", title: "A file stands where nothing discovers it" },
  linkLeavesProject: { code: "BDK1018", severity: "error", title: "A link leads out of the project" },
  unreadable: { code: "BDK1019", severity: "error", title: "A file can't be read" },
  badPackageJson: { code: "BDK1020", severity: "error", title: "package.json can't be read" },
  skillName: { code: "BDK1021", severity: "warning", title: "The skill's name is outside the SKILL.md convention" },
  syntaxError: { code: "BDK2001", severity: "error", title: "Syntax error" },
  missingImport: { code: "BDK2002", severity: "error", title: "An import leads nowhere" },
  noDefaultExport: { code: "BDK2003", severity: "error", title: "The file has no default export" },
  wrongDefine: { code: "BDK2004", severity: "error", title: "The default export is not what this folder holds" },
  helperNotImported: { code: "BDK2005", severity: "error", title: "A helper is called without being imported" },
  descriptionMissing: { code: "BDK2006", severity: "error", title: "The description is missing or empty" },
  emptyText: { code: "BDK2007", severity: "error", title: "The text is empty" },
  unknownEvent: { code: "BDK2008", severity: "error", title: "There is no such session event" },
  noEvents: { code: "BDK2009", severity: "warning", title: "A hook without events" },
  unknownAgentKey: { code: "BDK2010", severity: "warning", title: "defineAgent has no such key" },
  legacyKey: { code: "BDK2011", severity: "warning", title: "A key of an earlier version" },
  privateService: { code: "BDK2012", severity: "error", title: "This needs a private service of Cursor's" },
  unknownBuiltin: { code: "BDK2013", severity: "warning", title: "There is no such built-in tool" },
  badCron: { code: "BDK2014", severity: "error", title: "The cron expression can't be parsed" },
  cronNeverFires: { code: "BDK2015", severity: "error", title: "The cron expression names a date that never comes" },
  cronMissing: { code: "BDK2016", severity: "error", title: "A schedule without a cron expression" },
  scheduleForm: { code: "BDK2017", severity: "error", title: "A schedule needs exactly one of markdown and run" },
  badFrontMatter: { code: "BDK2018", severity: "error", title: "The front matter can't be read" },
  skillAttribute: {
    code: "BDK2019",
    severity: "warning",
    title: "The skill's front matter is outside the SKILL.md convention",
  },
  instructionsMissing: { code: "BDK4001", severity: "error", title: "The agent has no instructions" },
  duplicateId: { code: "BDK4002", severity: "error", title: "Two files define the same thing" },
  toolSubagentClash: { code: "BDK4003", severity: "warning", title: "A tool and a subagent share a name" },
  shadowsBuiltin: { code: "BDK4004", severity: "warning", title: "A tool hides a built-in tool" },
  unknownCommand: { code: "BDK8001", severity: "error", title: "Unknown command" },
  unknownOption: { code: "BDK8002", severity: "error", title: "Unknown option" },
  badOptionValue: { code: "BDK8003", severity: "error", title: "Option with a missing or impossible value" },
  badArgument: { code: "BDK8004", severity: "error", title: "Missing or surplus argument" },
  optionsExclude: { code: "BDK8005", severity: "error", title: "Options that exclude each other" },
  noProjectFolder: { code: "BDK8006", severity: "error", title: "The project folder is not there" },
  wouldOverwrite: { code: "BDK8007", severity: "error", title: "Files are there already" },
  unwritableOutput: { code: "BDK8008", severity: "error", title: "The output cannot be written" },
  manifestDiffers: { code: "BDK8009", severity: "error", title: "The manifest differs from the committed one" },
  unknownCode: { code: "BDK8010", severity: "error", title: "Unknown diagnostic code" },
  chooseAgent: { code: "BDK8011", severity: "error", title: "No such agent, or several to choose from" },
  badInput: { code: "BDK8012", severity: "error", title: "Input that is not JSON, or cannot be read" },
  cannotListen: { code: "BDK8013", severity: "error", title: "The server cannot start" },
  serverUnreachable: { code: "BDK8014", severity: "error", title: "The server cannot be reached" },
  serverRefused: { code: "BDK8015", severity: "error", title: "The server refused the request" },
  serverCrashed: { code: "BDK8016", severity: "error", title: "The dev server's process ended by itself" },
  internalError: { code: "BDK9001", severity: "error", title: "A bug in bdk" },
} as const satisfies Record<string, Code>;

export type CodeName = keyof typeof codes;
