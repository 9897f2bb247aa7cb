const types: Readonly<Record<string, string>> = {
  csv: "text/csv; charset=utf-8",
  diff: "text/x-diff; charset=utf-8",
  gif: "image/gif",
  html: "text/html; charset=utf-8",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  md: "text/markdown; charset=utf-8",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  webp: "image/webp",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
};

/** The media type that a file's ending stands for. */
export function mediaTypeOf(fileName: string): string {
  return types[/\.([a-z0-9]+)$/i.exec(fileName)?.[1]?.toLowerCase() ?? ""] ?? "application/octet-stream";
}

/** `type/subtype`, with parameters that are plain words: fit to stand in a header. */
export function isMediaType(text: string): boolean {
  return text.length <= 200 && /^[\w.+-]+\/[\w.+-]+(?:\s*;\s*[\w-]+=(?:[\w.+-]+|"[\w .+-]*"))*$/.test(text);
}

/** The ending that goes with a media type, with its dot; empty when none is known. */
export function endingOf(contentType: string): string {
  const bare = contentType.split(";", 1)[0]?.trim().toLowerCase();
  const found = Object.entries(types).find(([, type]) => type.split(";", 1)[0] === bare);
  return found === undefined ? "" : `.${found[0]}`;
}
