import { untilText } from "../until.js";

/** When a schedule fires next: its expression is in UTC, its reader is not. */
export function NextRun({ at, cron }: { readonly at: string; readonly cron: string }) {
  const time = new Date(at);
  return (
    <span class="note">
      <code>{cron}</code> · next <time dateTime={at}>{time.toLocaleString()}</time> ({untilText(time, new Date())})
    </span>
  );
}
