import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { onTestFinished, test } from "vitest";

/** `CHROMIUM_PATH`, else the first of the usual names on the PATH. */
const binary = process.env.CHROMIUM_PATH ?? find(["chromium", "chromium-browser", "google-chrome", "chrome"]);

/**
 * A test that needs a real Chromium. CI always runs it (`.ci/run` installs the package); elsewhere it is listed as
 * skipped where there is none, since `npm test` needs nothing but Node.
 */
export const browserTest = test.runIf(process.env.CI !== undefined || binary !== undefined);

/** A fresh page in a browser of its own. What the page throws, or is not allowed to load, is collected. */
export async function openPage(): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
  if (binary === undefined) throw new Error("there is no chromium: install it, or set CHROMIUM_PATH");
  const browser: Browser = await chromium.launch({ executablePath: binary, args: ["--no-sandbox"] });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  return { page, errors };
}

function find(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // not there, or not for us
  }
}
