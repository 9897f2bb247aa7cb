import { ownSubpath } from "../aliases.js";
import type { PluginPart } from "../scan/plugin/plugin.js";
import type { AgentTree, Entry } from "../scan/tree.js";
import { spanOf } from "./at.js";
import type { Definition, EnvRead } from "./definition.js";
import type { PropertyFacts } from "./facts.js";
import { formOf, idOf, nameOf } from "./identity.js";
import { envReads, type ModuleGraph } from "./module-graph.js";
import type { Prose } from "./prose.js";

/** Puts together what is known of one entry. */
export function define(entry: Entry, graph: ModuleGraph, prose: Prose | undefined): Definition {
  const exported = graph.modules.get(entry.file)?.facts.exported;
  const callee = exported?.callee;
  const own = callee?.from !== undefined && ownSubpath(callee.from) !== undefined;
  const properties = exported?.properties ?? [];
  const fields = properties.map((each) => [each.path.join("."), spanOf(entry.file, each.key)] as const);
  const literals = properties.flatMap((each) =>
    each.literal === undefined ? [] : [[each.path.join("."), each.literal] as const],
  );
  return {
    id: idOf(entry),
    entry,
    name: nameOf(entry),
    form: formOf(entry),
    span: exported === undefined ? { file: entry.file, line: 1, column: 1 } : spanOf(entry.file, exported.place),
    ...(own ? { define: callee.name } : {}),
    fields: prose?.fields ?? Object.fromEntries(fields),
    literals: Object.fromEntries(literals),
    ...(prose === undefined
      ? {}
      : { prose: { attributes: prose.attributes, body: prose.body, ...(prose.isUnread && { isUnread: true }) } }),
    env: envReads(graph, entry.file).map((read) => inField(read, entry.file, properties)),
  };
}

/** Says which field an environment read of the same file belongs to: the innermost one whose value it stands in. */
function inField(read: EnvRead, file: string, properties: readonly PropertyFacts[]): EnvRead {
  const { line, column } = read.span;
  if (read.span.file !== file) return read;
  const around = properties.filter(({ value: [fromLine, fromColumn, toLine, toColumn] }) => {
    const starts = fromLine < line || (fromLine === line && fromColumn <= column);
    return starts && (line < toLine || (line === toLine && column < toColumn));
  });
  const [innermost] = around.sort((a, b) => b.path.length - a.path.length);
  return innermost === undefined ? read : { ...read, field: innermost.path.join(".") };
}

/** The same for a part of a plugin, which its reader has read and judged. */
export function defineGiven(entry: Entry, part: PluginPart, graph: ModuleGraph, { mounts }: AgentTree): Definition {
  const mount = mounts.find(({ namespace }) => namespace === entry.mount);
  return {
    id: idOf(entry),
    entry,
    name: nameOf(entry),
    form: formOf(entry),
    span: part.form === "server" ? part.server.span : { file: entry.file, line: 1, column: 1 },
    fields: {},
    literals: {},
    ...(part.form === "server"
      ? {}
      : { prose: { attributes: { description: part.description }, body: part.markdown } }),
    // What fills a server's placeholders is read by the mount.
    env: part.form === "server" && mount !== undefined ? envReads(graph, mount.file) : [],
  };
}
