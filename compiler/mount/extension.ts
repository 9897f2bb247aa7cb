/** Mounts of extension packages: what stands beside the module that defines them. */
import path from "node:path";
import type { ExportFacts } from "../analyze/facts.js";
import { type Diagnostic, diagnostic, type Span } from "../diagnostics/diagnostic.js";
import { scanLayer } from "../scan/layer.js";
import { titleOf } from "../scan/package-json.js";
import type { Entry, PackageRef, TreeMount } from "../scan/tree.js";
import { joinPath } from "../source.js";
import type { Ground } from "./ground.js";
import { definesExtension, folderOf, type Located, locate } from "./locate.js";
import { extensionContract, type FoundPackage } from "./package.js";
import type { MountTarget } from "./target.js";

/** What a mount brings. */
export interface Mounted {
  readonly mount: TreeMount;
  readonly entries: readonly Entry[];
  readonly diagnostics: readonly Diagnostic[];
}

export async function mountModule(
  own: Pick<TreeMount, "namespace" | "file">,
  { specifier, name, at }: Extract<MountTarget, { form: "module" }>,
  projectDir: string,
  ground: Ground,
): Promise<Mounted> {
  const unknown: Mounted = { mount: { ...own, form: "unknown" }, entries: [], diagnostics: [] };
  const located = await locate(specifier, name, own.file, ground);
  if (located === undefined) return unknown;
  const owner = ground.packageOf(located.file);
  const project = path.join(ground.source.root, projectDir);
  const ref = owner === undefined || owner.dir === project ? undefined : toRef(owner, ground);
  const title = ref === undefined ? "the mounted module" : titleOf(ref);
  const refuse = (each: Diagnostic): Mounted => ({
    ...unknown,
    mount: { ...unknown.mount, ...(ref === undefined ? {} : { package: ref }) },
    diagnostics: [each],
  });

  const newer = checkContract(owner, title, at);
  if (newer !== undefined) return refuse(newer);
  const isPackage = !/^\.{0,2}\//.test(specifier);
  const reason = whyNoExtension(located, isPackage, ground);
  if (reason !== undefined) return refuse(notAnExtension(title, reason, at));

  const root = folderOf(located.file);
  const found = scanLayer(ground.source, {
    dir: root,
    scope: "base",
    contributor: "extension",
    layer: "extension",
    mount: own.namespace,
    ...(ref === undefined ? {} : { package: ref }),
  });
  return {
    mount: {
      ...own,
      form: "package",
      module: located.file,
      ...(located.via.length === 0 ? {} : { via: located.via }),
      specifier,
      scope: ref?.dir ?? root,
      ...(ref === undefined ? {} : { package: ref }),
    },
    entries: withoutSources(found.entries, located.file),
    diagnostics: found.diagnostics,
  };
}

function toRef({ name, version, dir }: FoundPackage, { source }: Ground): PackageRef {
  const folder = path.relative(source.root, dir).split(path.sep).join("/");
  // Asked for so that a new version is a reason to compile again.
  source.exists(joinPath(folder, "package.json"));
  return { name, dir: folder, ...(version === undefined ? {} : { version }) };
}

function checkContract(owner: FoundPackage | undefined, title: string, at: Span): Diagnostic | undefined {
  const contract = owner?.contract ?? extensionContract;
  if (Number.isInteger(contract) && Number(contract) >= 1 && Number(contract) <= extensionContract) return undefined;
  const isNewer = typeof contract === "number" && contract > extensionContract;
  return diagnostic("extensionContract", {
    message: isNewer
      ? `${title} was built for contract ${contract} between extensions and bdk; this version knows ${extensionContract}`
      : `${title} names no contract that there is: "bdk": { "extension": ${JSON.stringify(contract)} } in its package.json`,
    at,
    help: isNewer ? "upgrade @cursor/bdk, or install an earlier version of the package" : "it should be 1",
  });
}

const isNot = "does not export what defineExtension returns";

/** What syntax tells against it. What a package's build has made unreadable is left to evaluation. */
function whyNoExtension({ file, facts, name }: Located, isPackage: boolean, ground: Ground): string | undefined {
  if (facts === undefined) return `${file} is no module`;
  if (facts.error !== undefined) return `${file} can't be parsed: ${facts.error.message}`;
  if (name === "default") {
    if (facts.exported === undefined) {
      const isCommonJs = /\bexports\b\s*[.=]/.test(ground.source.readText(file));
      return `${file} ${isCommonJs ? "is CommonJS: extensions are ES modules" : "has no default export"}`;
    }
    if (isSomethingElse(facts.exported)) return `${file} ${isNot}`;
  }
  return isPackage || definesExtension(facts) ? undefined : `${file} ${isNot}`;
}

function isSomethingElse({ form, callee }: ExportFacts): boolean {
  if (form === "opaque") return false;
  if (form !== "call") return true;
  return callee !== undefined && /^(?:define|disable)(?!Extension)[A-Z]/.test(callee.name);
}

function notAnExtension(title: string, reason: string, at: Span): Diagnostic {
  return diagnostic("notAnExtension", {
    message: `${title} is no extension: ${reason}`,
    at,
    help: "an extension's entry module has `export default defineExtension({ root: import.meta.dirname, description })`",
  });
}

/** A package may ship what it was built from beside it: then what stands in the entry's own language counts. */
function withoutSources(entries: readonly Entry[], entry: string): readonly Entry[] {
  const isSource = /\.[cm]?ts$/.test(entry);
  const stems = new Map<string, Entry[]>();
  for (const each of entries) {
    const stem = `${each.kind} ${each.file.replace(/\.[cm]?[jt]s$/, "")}`;
    stems.set(stem, [...(stems.get(stem) ?? []), each]);
  }
  return [...stems.values()].flatMap((twins) => {
    const kept = twins.filter(({ file }) => /\.[cm]?ts$/.test(file) === isSource);
    return twins.length > 1 && kept.length > 0 ? kept : twins;
  });
}
