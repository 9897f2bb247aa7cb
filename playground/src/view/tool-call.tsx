import { useState } from "preact/hooks";
import { isChanged, resolveApproval } from "../api.js";
import { show } from "../events.js";
import type { Item } from "../fold.js";

type Call = Extract<Item, { kind: "call" }>;

const words = { running: "running", ok: "done", failed: "failed" } as const;

/** A tool call with its arguments, output and, when it is parked, the buttons that decide it. */
export function ToolCall({ call, sessionId }: { readonly call: Call; readonly sessionId: string }) {
  const state =
    call.approval === "asked" ? "waiting for approval" : call.approval === "deny" ? "denied" : words[call.state];
  const time = call.durationMs === undefined ? "" : ` · ${Math.round(call.durationMs)} ms`;
  return (
    <div class={`call ${call.state}`}>
      <details open={call.approval === "asked" || call.state === "failed"}>
        <summary>
          <code>{call.toolName || "tool"}</code>
          <span class="state">
            {state}
            {time}
            {call.isStubbed ? " · dry run" : ""}
          </span>
        </summary>
        <h3>Input</h3>
        <pre>{show(call.args) || "none"}</pre>
        {call.output === undefined ? null : (
          <>
            <h3>Output</h3>
            <pre>{show(call.output)}</pre>
          </>
        )}
      </details>
      {call.approval === "asked" ? <Approval call={call} sessionId={sessionId} /> : null}
    </div>
  );
}

function Approval({ call, sessionId }: { readonly call: Call; readonly sessionId: string }) {
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [needsConfirm, setNeedsConfirm] = useState(false);
  const attempt = async (action: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await action();
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  const decide = (decision: "approve" | "deny") =>
    attempt(async () => {
      // Other code would run than the code that asked: the person is told before it does.
      if (decision === "approve" && !needsConfirm && (await isChanged(sessionId, call.key))) {
        setNeedsConfirm(true);
        setBusy(false);
        return;
      }
      await resolveApproval(sessionId, call.key, decision, needsConfirm);
    });
  return (
    <fieldset class="approval" disabled={isBusy}>
      <legend class="hidden">Approval of {call.toolName}</legend>
      <button type="button" class="primary" onClick={() => decide("approve")}>
        {needsConfirm ? "Approve all the same" : "Approve"}
      </button>
      <button type="button" onClick={() => decide("deny")}>
        Deny
      </button>
      {needsConfirm ? <p role="status">The code of {call.toolName} has changed since it asked.</p> : null}
      {problem === undefined ? null : <p role="alert">{problem}</p>}
    </fieldset>
  );
}
