/** How a turn stands. */
export type BannerState = "running" | "parked" | "completed" | "failed" | "cancelled";

const lines: Readonly<Record<BannerState, string>> = {
  running: ":hourglass_flowing_sand: is working on this",
  parked: ":raised_hand: waits for an approval",
  completed: ":white_check_mark: is done",
  failed: ":x: did not get to the end",
  cancelled: ":no_entry_sign: was interrupted",
};

/** The sticky comment's text. It says nothing of errors: those are for the server's log. */
export function bannerText(name: string, state: BannerState, sha: string | undefined): string {
  return `**${name}** ${lines[state]}${sha === undefined ? "" : ` (${sha.slice(0, 7)})`}.`;
}
