/** GitHub's API on loopback: writes down what it is asked, in order, and answers as GitHub does. Nothing of the runtime's. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";

/** One call. */
export interface GitHubCall {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly authorization: string | undefined;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Does what was asked all the same, as a gateway that fails after the fact. */
  readonly happens?: boolean;
}

export interface FakeGitHub {
  /** Value for `GITHUB_API_URL`. */
  readonly url: string;
  readonly calls: GitHubCall[];
  /** `POST /repos/acme/checkout/issues/42/comments` and so on, in order. */
  said(): string[];
  /** Comments there are. */
  readonly comments: { readonly id: number; readonly place: string; body: string; readonly created_at: string }[];
  /** Answers the next call that matches otherwise. */
  once(match: RegExp, answer: Answer): void;
  /** Resolves when a condition on what was asked holds. */
  until(condition: (github: FakeGitHub) => boolean): Promise<void>;
  close(): void;
}

const open: FakeGitHub[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** @param keep The server outlives the test that began it. */
export async function startFakeGitHub(keep = false): Promise<FakeGitHub> {
  const calls: GitHubCall[] = [];
  const comments: { id: number; place: string; body: string; created_at: string }[] = [];
  const exceptions: { match: RegExp; answer: Answer }[] = [];
  const waiting = new Set<() => void>();
  let ids = 1_000;

  function succeed({ method, path, query, body }: GitHubCall): Answer {
    ids += 1;
    const created = { status: 201, body: { id: ids } };
    const comment = /^\/repos\/[^/]+\/[^/]+\/(?:issues|pulls|commits)\/([^/]+)\/comments(?:\/(\d+)\/replies)?$/.exec(
      path,
    );
    if (comment !== null && method === "POST") {
      comments.push({ id: ids, place: path, body: String(body.body), created_at: new Date().toISOString() });
      return created;
    }
    if (comment !== null && method === "GET") {
      const found = comments.filter(
        ({ place, created_at }) => place.startsWith(path) && created_at >= (query.since ?? ""),
      );
      return { status: 200, body: found };
    }
    const edited = /\/issues\/comments\/(\d+)$/.exec(path);
    if (edited !== null && method === "PATCH") {
      const found = comments.find(({ id }) => id === Number(edited[1]));
      if (found === undefined) return { status: 404, body: { message: "Not Found" } };
      found.body = String(body.body);
      return { status: 200, body: found };
    }
    if (method === "POST" && (/\/reactions$/.test(path) || /\/statuses\/[0-9a-f]{40}$/.test(path))) return created;
    if (method === "DELETE" && /\/reactions\/\d+$/.test(path)) return { status: 204 };
    if (method === "GET" && /\/repos\/[^/]+\/[^/]+\/installation$/.test(path)) return { status: 200, body: { id: 77 } };
    if (method === "POST" && /^\/app\/installations\/\d+\/access_tokens$/.test(path)) {
      const expires_at = new Date(Date.now() + 3_600_000).toISOString();
      return {
        status: 201,
        body: { token: `ghs_of_${path.split("/")[3]}`, expires_at, permissions: {}, repository_selection: "all" },
      };
    }
    if (method === "GET" && path === "/user") return { status: 200, body: { login: "octobot" } };
    const pull = /^\/repos\/([^/]+)\/([^/]+)\/pulls\/(\d+)$/.exec(path);
    if (method === "GET" && pull !== null)
      return { status: 200, body: pullRequest(pull[1] ?? "", pull[2] ?? "", Number(pull[3])) };
    if (method === "GET" && /^\/repos\/[^/]+\/[^/]+$/.test(path)) {
      const [, , owner = "", name = ""] = path.split("/");
      return { status: 200, body: { id: 1, name, full_name: `${owner}/${name}`, owner: { login: owner } } };
    }
    return { status: 404, body: { message: "Not Found" } };
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://github.invalid");
    const call: GitHubCall = {
      method: request.method ?? "GET",
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      body: await readJson(request),
      authorization: request.headers.authorization,
    };
    calls.push(call);
    const at = exceptions.findIndex(({ match }) => match.test(`${call.method} ${call.path}`));
    const [exception] = at < 0 ? [] : exceptions.splice(at, 1);
    if (exception?.answer.happens === true) succeed(call);
    const answer = exception?.answer ?? succeed(call);
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
    for (const wake of waiting) wake();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const github: FakeGitHub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    comments,
    said: () => calls.map(({ method, path }) => `${method} ${path}`),
    once: (match, answer) => exceptions.push({ match, answer }),
    until: (condition) =>
      new Promise((resolve) => {
        const check = () => {
          if (!condition(github)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  if (!keep) open.push(github);
  return github;
}

function pullRequest(owner: string, name: string, number: number): Readonly<Record<string, unknown>> {
  const repo = { id: 1, name, full_name: `${owner}/${name}`, owner: { login: owner } };
  return {
    number,
    html_url: `https://github.com/${owner}/${name}/pull/${number}`,
    title: "Fetched",
    body: "From the API.",
    draft: false,
    merged: false,
    user: { login: "mona", type: "User" },
    head: { sha: "a".repeat(40), ref: "feature" },
    base: { ref: "main", repo },
  };
}

async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>);
}
