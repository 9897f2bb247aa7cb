/** What projects and extension packages have alike: files around the code. */

/** What `package.json` asks for besides bdk: Node's types and the compiler, as `bdk validate --types` expects them. */
export const typeDependencies = { "@types/node": "^20.19.0", typescript: ">=5.9 <8" } as const;

export const engines = { node: ">=20.19" } as const;

/** The range of zod that the scaffolds are written for. */
export const zodRange = "^4.1.0";

/** `package.json` as text. */
export function packageText(value: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** `tsconfig.json` for code that is linked as it stands. */
export function tsconfigText(include: readonly string[]): string {
  return `{
  "compilerOptions": {
    "target": "ES2022",
    "lib": ["ES2023"],
    "module": "ESNext",
    "moduleResolution": "Bundler",
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true,
    "isolatedModules": true,
    "verbatimModuleSyntax": true,
    "types": ["node"]
  },
  "include": ${JSON.stringify(include).replaceAll(",", ", ")}
}
`;
}
