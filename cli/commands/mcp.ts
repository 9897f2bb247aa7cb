import type { StoredOAuthClientInformation } from "@modelcontextprotocol/client";
import type { Login } from "../../runtime/connections/logins.js";
import { openLogins } from "../../runtime/storage/login-store.js";
import type { Values } from "../command.js";
import type { CommandTable } from "../command-table.js";
import { exit, failure, usageFailure } from "../exit.js";
import type { Run } from "../index.js";
import { hasBrowser, openInBrowser } from "../mcp/browser.js";
import type { CallbackServer } from "../mcp/callback.js";
import { findConnections, findLoginTarget, type LoginTarget, takesLogin, type Wanted } from "../mcp/find.js";
import { projectFolder } from "../project.js";
import { stateRootOf } from "../state/folder.js";
import { columns } from "../ui/columns.js";
import { type Terminal, writeJson } from "../ui/terminal.js";

type Options = Values<CommandTable["mcp"]["options"]>;
type Action = (name: string | undefined, options: Options, terminal: Terminal) => Promise<number>;

const actions: Readonly<Record<string, Action>> = { list, oauth, logout };

export const run: Run<"mcp"> = async ({ args: [action = "list", name], options }, terminal) => {
  const act = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (act === undefined) {
    const known = Object.keys(actions).join(", ");
    throw usageFailure("badArgument", { message: `bdk mcp has no action "${action}"`, help: `it has ${known}` });
  }
  if (act === list && name !== undefined) {
    throw usageFailure("badArgument", { message: `bdk mcp list does not take "${name}"` });
  }
  return act(name, options, terminal);
};

async function list(_name: string | undefined, options: Options, terminal: Terminal): Promise<number> {
  const found = (await findConnections(wantedBy(options), terminal)).filter(takesLogin);
  const root = stateRootOf(options);
  const connections = found.map(({ slug, spec: { name, kind } }) => {
    const login = openLogins(root, slug).read(name);
    return { slug, name, kind, loggedIn: login !== undefined, ...(login && factsOf(login)) };
  });
  if (options.json) {
    await writeJson(terminal.out, { connections });
    return exit.ok;
  }
  if (connections.length === 0) await terminal.out.line("no connection of this project has oauth: true");
  const rows = connections.map((each) => [
    each.name,
    each.slug,
    each.loggedIn ? "logged in" : "not logged in",
    "issuer" in each ? (each.issuer ?? "") : `bdk mcp oauth ${each.name}`,
  ]);
  for (const line of columns(rows)) await terminal.out.line(line);
  return exit.ok;
}

async function oauth(name: string | undefined, options: Options, terminal: Terminal): Promise<number> {
  const target = await findLoginTarget(requireName(name, "oauth"), wantedBy(options), terminal);
  const metadataUrl = readMetadataUrl(options["client-metadata-url"]);
  const [{ login }, { openCallback }, { readPasted }, { LoginError }] = await Promise.all([
    import("../mcp/login.js"),
    import("../mcp/callback.js"),
    import("../mcp/paste.js"),
    import("../mcp/reason.js"),
  ]);
  const callback = await openCallback(options.port).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw failure("cannotListen", { message: `the login can't come back to port ${options.port}: ${reason}` });
  });
  const waiting = new AbortController();
  const giveUp = (reason: string) => waiting.abort(new LoginError(reason));
  const timer = setTimeout(() => giveUp(`nobody logged in within ${options.timeout} seconds`), options.timeout * 1000);
  const interrupt = () => giveUp("it was interrupted");
  process.once("SIGINT", interrupt);
  const opens = !options.json && options.browser && terminal.interactive && hasBrowser(process.platform, process.env);
  const stopReading = opens
    ? undefined
    : readPasted(process.stdin, callback.paste, () => void refusePasted(callback, terminal));
  const client = clientOf(options, target);
  const scope = options.scope ?? target.settings.scopes ?? target.settings.scope;
  try {
    const done = await login({
      url: target.url,
      clientName: `BDK (${target.slug})`,
      callback,
      signal: waiting.signal,
      show: (page) => show(page, target, { opens, json: options.json }, terminal),
      ...(client && { client }),
      ...(metadataUrl !== undefined && { clientMetadataUrl: metadataUrl }),
      ...(scope !== undefined && { scope }),
    });
    openLogins(stateRootOf(options), target.slug).write(target.name, done);
    await tellLogin(done, target, options, terminal);
    return exit.ok;
  } catch (error) {
    if (!(error instanceof LoginError)) throw error;
    throw failure("loginFailed", { message: `nobody was logged in to "${target.name}": ${error.message}` });
  } finally {
    clearTimeout(timer);
    stopReading?.();
    process.off("SIGINT", interrupt);
    callback.close();
  }
}

async function show(
  page: URL,
  { name }: LoginTarget,
  { opens, json }: { readonly opens: boolean; readonly json: boolean },
  { out, err }: Terminal,
): Promise<void> {
  if (json) {
    await out.line(JSON.stringify({ event: "authorize", name, url: page.href }));
    return;
  }
  await err.line(opens ? `Log in to ${name} in the browser. If none opened, go to` : `To log in to ${name}, go to`);
  await out.line(page.href);
  if (opens) openInBrowser(page, process.platform);
  else await err.line("Where that browser is on another machine it ends at an address it can't open: paste that here.");
}

function refusePasted({ redirectUrl }: CallbackServer, { err }: Terminal): Promise<void> {
  return err.line(`That is not the answer to this login: it begins with ${redirectUrl}?`);
}

/** A client's id by the rules of client metadata documents: an https URL with a path. */
function readMetadataUrl(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === "https:" && url.pathname !== "/") return given;
  throw usageFailure("badArgument", {
    message: `--client-metadata-url "${given}" is no https URL with a path`,
    help: "give the address of the document, such as https://example.com/bdk-client.json",
  });
}

async function tellLogin(
  login: Login,
  { slug, name }: LoginTarget,
  options: Options,
  { out }: Terminal,
): Promise<void> {
  const facts = factsOf(login);
  if (options.json) return out.line(JSON.stringify({ event: "logged-in", slug, name, ...facts }));
  const renewed = facts.isRenewed ? "renewed when it is used" : `good until ${facts.expiresAt ?? "it is taken back"}`;
  await out.line(`logged in to ${name} (${facts.issuer}); its token is ${renewed}`);
}

async function logout(given: string | undefined, options: Options, terminal: Terminal): Promise<number> {
  const name = requireName(given, "logout");
  const { slug } = await findLoginTarget(name, wantedBy(options), terminal);
  const logins = openLogins(stateRootOf(options), slug);
  const login = logins.read(name);
  const { revoke } = await import("../mcp/logout.js");
  const isRevoked = login === undefined ? undefined : await revoke(login);
  const isGone = logins.remove(name);
  if (options.json) await writeJson(terminal.out, { slug, name, loggedOut: isGone, revoked: isRevoked === true });
  else if (!isGone) await terminal.out.line(`nobody was logged in to ${name}`);
  else {
    const told =
      isRevoked === true
        ? "and its tokens were taken back"
        : "its tokens are forgotten here, and may be good elsewhere";
    await terminal.out.line(`logged out of ${name}; ${told}`);
  }
  return exit.ok;
}

/** What may be told of a login. */
function factsOf({ authorizationServer, tokens, expiresAt }: Login) {
  return {
    issuer: authorizationServer.metadata?.issuer ?? authorizationServer.url,
    ...(tokens.scope !== undefined && { scope: tokens.scope }),
    ...(expiresAt !== undefined && { expiresAt }),
    isRenewed: tokens.refresh_token !== undefined,
  };
}

/** A client that was registered by hand: by option, or by a plugin's `auth`. */
function clientOf(options: Options, { settings }: LoginTarget): StoredOAuthClientInformation | undefined {
  const byPlugin = settings.CLIENT_ID ?? settings.client_id ?? settings.clientId;
  const id = options["client-id"] ?? byPlugin;
  if (id === undefined) return undefined;
  const ofPlugin =
    id === byPlugin ? (settings.CLIENT_SECRET ?? settings.client_secret ?? settings.clientSecret) : undefined;
  const secret = process.env.MCP_OAUTH_CLIENT_SECRET ?? ofPlugin;
  return { client_id: id, ...(secret !== undefined && secret !== "" && { client_secret: secret }) };
}

function wantedBy(options: Options): Wanted {
  return { root: projectFolder(options.dir), slug: options.slug, json: options.json };
}

function requireName(name: string | undefined, action: string): string {
  if (name !== undefined) return name;
  throw usageFailure("badArgument", {
    message: `bdk mcp ${action} needs the name of a connection`,
    help: "bdk mcp lists them",
  });
}
