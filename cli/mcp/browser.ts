import { spawn } from "node:child_process";

/** Whether this machine is likely to have a browser that its user sees. */
export function hasBrowser(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): boolean {
  if (env.CI !== undefined || env.SSH_CONNECTION !== undefined) return false;
  if (platform === "darwin" || platform === "win32") return true;
  return (env.DISPLAY ?? env.WAYLAND_DISPLAY ?? "") !== "";
}

/** Opens a page in the user's browser. Whoever has none opens it by hand: the address has been printed. */
export function openInBrowser(url: URL, platform: NodeJS.Platform): void {
  const [command, args] =
    platform === "darwin"
      ? ["open", [url.href]]
      : platform === "win32"
        ? // No shell: it would read & in the address as the end of the command.
          ["rundll32", ["url.dll,FileProtocolHandler", url.href]]
        : ["xdg-open", [url.href]];
  const child = spawn(command, args, { stdio: "ignore", detached: true });
  child.on("error", () => child.unref());
  child.unref();
}
