/** The routes there are, to tell a wrong method (405, with `Allow`) from a wrong path (404). */
export interface RouteTable {
  add(method: string | readonly string[], pattern: string): void;
  /** Methods that the path accepts, sorted; none when no route has it, or when its agent is not mounted. */
  methodsOf(path: string, isMounted: (slug: string) => boolean): readonly string[];
}

export function createRouteTable(): RouteTable {
  const routes: { readonly methods: readonly string[]; readonly expression: RegExp }[] = [];
  return {
    add(method, pattern) {
      const methods = typeof method === "string" ? [method] : method;
      routes.push({
        methods: methods.includes("GET") ? [...methods, "HEAD"] : methods,
        expression: toExpression(pattern),
      });
    },
    methodsOf(path, isMounted) {
      const found = new Set<string>();
      for (const { methods, expression } of routes) {
        const match = expression.exec(path);
        if (match === null) continue;
        const slug = match.groups?.slug;
        if (slug !== undefined && !isMounted(slug)) continue;
        for (const method of methods) found.add(method);
      }
      return [...found].sort();
    },
  };
}

function toExpression(pattern: string): RegExp {
  const source = pattern
    .split("/")
    .map((part) => {
      if (part === "*") return ".*";
      if (part.startsWith(":")) return `(?<${part.slice(1)}>[^/]+)`;
      return part.replace(/[.+?^$()[\]{}|\\]/g, "\\$&");
    })
    .join("/");
  return new RegExp(`^${source}/?$`);
}
