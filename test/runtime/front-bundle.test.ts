/** What stands in front, in a built `server.mjs`: where a part that was not linked would be missed. */
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { expect } from "vitest";
import { jwtTokens, machine, makeKey, startAuthorizationServer } from "./support/authorization-server.js";
import { emitProject } from "./support/emitted.js";
import { temporaryFolder } from "./support/host.js";
import { certificateTest } from "./support/openssl.js";
import { startServer } from "./support/server-process.js";

const audience = "https://bots.example/desk";

function post(url: string, ca: string, token: string) {
  return new Promise<{ status: number; retryAfter: string | undefined; text: string }>((done, fail) => {
    const headers = { authorization: `Bearer ${token}` };
    const asked = request(url, { ca, method: "POST", headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("end", () => done({ status: answer.statusCode ?? 0, retryAfter: answer.headers["retry-after"], text }));
    });
    asked.on("error", fail);
    asked.end();
  });
}

certificateTest(
  "a bundle checks tokens of a provider, counts requests, speaks TLS, and says what a start lacks",
  async () => {
    const provider = await startAuthorizationServer({
      clients: [machine],
      jwks: { keys: [await makeKey("one")] as never },
      features: jwtTokens(),
    });
    const project = await emitProject({
      "bot/channels/desk.ts": `import { defineChannel, oidcAuth, POST } from "@cursor/bdk/channels";

export default defineChannel({
  auth: [oidcAuth({ issuer: ${JSON.stringify(provider.issuer)}, audience: ${JSON.stringify(audience)} })],
  routes: [POST("/", { handler: (_request, { auth }) => Response.json(auth) })],
});
`,
    });
    const folder = temporaryFolder();
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    const name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
    const made = spawnSync("openssl", [
      "req",
      "-x509",
      ...curve,
      "-nodes",
      "-days",
      "2",
      "-keyout",
      key,
      "-out",
      cert,
      ...name,
    ]);
    expect(made.status).toBe(0);
    const flags = ["--port", "0", "--json", "--mode", "single", "--state-root", join(folder, "state")];
    const front = ["--tls-cert", cert, "--tls-key", key, "--rate-limit", "2"];
    const bundle = join(project.work, "out/server.mjs");
    const { url, stderr } = await startServer([bundle, ...flags, ...front], { cwd: project.work });
    expect(url).toMatch(/^https:/);

    const at = `${url}/v1/channels/desk`;
    const ca = readFileSync(cert, "utf8");
    const token = await provider.token();
    const first = await post(at, ca, token);
    expect([first.status, JSON.parse(first.text)]).toEqual([
      200,
      expect.objectContaining({ kind: "oidc", id: "machine" }),
    ]);
    expect((await post(at, ca, `${token}x`)).status).toBe(401);
    expect((await post(at, ca, token)).status).toBe(200);
    const third = await post(at, ca, token);
    expect([third.status, third.retryAfter]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(stderr()).not.toContain(token);

    await expect(startServer([bundle, ...flags, "--tls-cert", key, "--tls-key", cert])).rejects.toThrow(
      /ended \(1\).*holds no certificate in PEM form/,
    );
    expect(statSync(bundle).size).toBeLessThan(1_250_000);
  },
);
