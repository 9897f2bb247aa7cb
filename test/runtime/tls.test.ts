/** `--tls-cert` and `--tls-key`: HTTPS with a certificate that openssl made. */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, utimesSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { expect, onTestFinished, vi } from "vitest";
import { createHost } from "../../runtime/host/index.js";
import { makeBundle } from "./support/bundle.js";
import { connected } from "./support/connections.js";
import { startHost, temporaryFolder } from "./support/host.js";
import { certificateTest } from "./support/openssl.js";
import { createTester } from "./support/tester.js";

interface Certificate {
  readonly tlsCert: string;
  readonly tlsKey: string;
  readonly pem: string;
}

/** A certificate for localhost and 127.0.0.1, signed by itself. */
function makeCertificate(folder = temporaryFolder()): Certificate {
  const tlsCert = join(folder, "cert.pem");
  const tlsKey = join(folder, "key.pem");
  const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const made = spawnSync("openssl", [...args, "-keyout", tlsKey, "-out", tlsCert, ...subject], { encoding: "utf8" });
  if (made.status !== 0) throw new Error(`openssl: ${made.stderr}`);
  return { tlsCert, tlsKey, pem: execFileSync("cat", [tlsCert], { encoding: "utf8" }) };
}

interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

function send(url: string, ca: string, body?: unknown, agent?: Agent): Promise<Answered> {
  return new Promise((done, fail) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const method = body === undefined ? "GET" : "POST";
    const asked = request(url, { ca, method, headers, ...(agent && { agent }) }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => done({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
    asked.on("error", fail);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

certificateTest("the server speaks HTTPS, knows its URL, and is as strict as ever", async () => {
  const { pem, ...files } = makeCertificate();
  const host = await startHost(makeBundle([createTester().parts]), files);
  expect(host.url).toBe(`https://127.0.0.1:${host.port}`);
  expect((await send(`${host.base}/v1/tools/add`, pem, { input: { a: 2 } })).body.result).toEqual({ sum: 3 });
  const agents = (await send(`${host.url}/v1/agents`, pem)).body.agents as { infoUrl: string }[];
  expect(agents[0]?.infoUrl).toBe(`${host.base}/v1/info`);
  // A client that does not know who signed the certificate does not talk to us.
  await expect(send(`${host.base}/v1/info`, makeCertificate().pem)).rejects.toThrow(/self-signed/);
});

certificateTest("plain HTTP and old TLS get nothing; the server goes on", async () => {
  const { pem, ...files } = makeCertificate();
  const host = await startHost(makeBundle([createTester().parts]), files);
  const plain = new Promise((done, fail) => get(`http://127.0.0.1:${host.port}/v1/health`, done).on("error", fail));
  await expect(plain).rejects.toThrow();
  const old = new Promise((done, fail) => {
    const socket = connect({ port: host.port, ca: pem, maxVersion: "TLSv1.1", minVersion: "TLSv1" }, () =>
      done(socket),
    );
    socket.on("error", fail);
  });
  await expect(old).rejects.toThrow();
  expect((await send(`${host.url}/v1/health`, pem)).status).toBe(200);
});

certificateTest("a renewed certificate counts for new connections; one without its key changes nothing", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { pem, ...files } = makeCertificate();
  const host = await startHost(makeBundle([createTester().parts]), files);
  const kept = new Agent({ keepAlive: true });
  onTestFinished(() => kept.destroy());
  const health = async (ca: string, agent = new Agent()) =>
    (await send(`${host.url}/v1/health`, ca, undefined, agent)).status;
  expect(await health(pem, kept)).toBe(200);
  const next = makeCertificate();
  const look = (when: number) => {
    // A second later: some file systems keep no finer times.
    for (const file of [files.tlsCert, files.tlsKey]) utimesSync(file, when, when);
    vi.advanceTimersByTime(60_000);
  };
  copyFileSync(next.tlsCert, files.tlsCert);
  look(Date.now() / 1000 + 1);
  expect(await health(pem)).toBe(200);
  expect(host.lines.at(-1)?.message).toContain("the certificate stays as it was");
  copyFileSync(next.tlsKey, files.tlsKey);
  look(Date.now() / 1000 + 2);
  expect(await health(next.pem)).toBe(200);
  await expect(health(pem)).rejects.toThrow(/self-signed/);
  expect(await health(pem, kept)).toBe(200);
});

certificateTest("two agents of one host still reach each other", async () => {
  const { pem, ...files } = makeCertificate();
  const bundle = makeBundle([
    connected({ slug: "first", mcp: { helper: { agent: "second", advertiseTools: true } } }),
    { ...createTester().parts, slug: "second" },
  ]);
  const host = await startHost(bundle, files);
  const { body } = await send(`${host.url}/first/v1/tools`, pem);
  expect(body.connectionErrors).toEqual([]);
  expect(JSON.stringify(body.tools)).toContain("helper__ask");
  const ask = { input: { message: '/add {"a":2}', waitSeconds: 20 } };
  const asked = await send(`${host.url}/first/v1/tools/helper__ask`, pem, ask);
  expect(asked.body).toMatchObject({ ok: true, isError: false });
  const { sessions } = (await send(`${host.url}/second/v1/sessions`, pem)).body;
  expect(sessions).toMatchObject([{ owner: "loopback:local", status: "waiting" }]);
});

certificateTest("files that can't be used refuse to start, without a word of the key", async () => {
  const folder = temporaryFolder();
  const { tlsCert, tlsKey } = makeCertificate();
  const other = makeCertificate();
  const junk = join(folder, "junk.pem");
  writeFileSync(junk, "not a certificate, and a s3cret-word\n");
  const start = (options: object) =>
    createHost(makeBundle([{}]), { port: 0, stateRoot: temporaryFolder(), log: () => undefined, ...options });
  await expect(start({ tlsCert })).rejects.toThrow("--tls-cert and --tls-key go together");
  await expect(start({ tlsKey })).rejects.toThrow("--tls-cert and --tls-key go together");
  await expect(start({ tlsCert: join(folder, "none.pem"), tlsKey })).rejects.toThrow(
    "--tls-cert can't be read: ENOENT",
  );
  await expect(start({ tlsCert, tlsKey: folder })).rejects.toThrow("--tls-key can't be read: EISDIR");
  await expect(start({ tlsCert, tlsKey: other.tlsKey })).rejects.toThrow("can't be used together");
  const refusal = await start({ tlsCert, tlsKey: junk }).catch((error: unknown) => String(error));
  expect(refusal).toContain(`--tls-key ${junk} holds no private key in PEM form`);
  await expect(start({ tlsCert: tlsKey, tlsKey: tlsCert })).rejects.toThrow("holds no certificate in PEM form");
  const sealed = join(folder, "sealed.pem");
  const seal = ["pkey", "-in", tlsKey, "-aes256", "-passout", "pass:s3cret-word", "-out", sealed];
  execFileSync("openssl", seal);
  await expect(start({ tlsCert, tlsKey: sealed })).rejects.toThrow("sealed.pem is encrypted: take its passphrase off");
  expect(refusal).not.toContain("s3cret-word");
});
