import type { AddressInfo } from "node:net";

/** The URL to reach a listening server at; a wildcard address is shown as this machine's own. */
export function urlOfAddress({ address, family, port }: AddressInfo): string {
  const shown =
    address === "::" ? "[::1]" : address === "0.0.0.0" ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${shown}:${port}`;
}

/** A `--public-url` without trailing slashes. */
export function trimUrl(url: string): string {
  return url.replace(/\/+$/, "");
}
