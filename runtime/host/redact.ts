/** Environment names whose values are never to be shown. */
const secretName =
  /(?:^|_)(?:KEY|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PRIVATE_KEY|PAT|DSN)(?:_|$)/;

/** Shorter values are too likely to be ordinary words. */
const minimalLength = 6;

/**
 * Makes a function that takes known secrets, bearer credentials and continuation tokens out of a text.
 *
 * @example createRedactor(["hunter22"])("token hunter22") // "token [redacted]"
 */
export function createRedactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = [...new Set(secrets)]
    .filter((secret): secret is string => secret !== undefined && secret.length >= minimalLength)
    .sort((left, right) => right.length - left.length);
  return (text) => {
    let clean = text;
    for (const secret of known) if (clean.includes(secret)) clean = clean.replaceAll(secret, "[redacted]");
    return clean
      .replace(/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, "$1 [redacted]")
      .replace(/\bhttp:[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g, "http:[redacted]");
  };
}

/** The values of the environment's variables that look like credentials by their name. */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value !== undefined && secretName.test(name.toUpperCase()) ? [value] : [],
  );
}
