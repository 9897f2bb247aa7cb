/**
 * Renders `docs/` as a static site: one HTML file a page, a navigation, one stylesheet, no script. The server shows it
 * at `/docs`, under a policy that allows nothing from elsewhere.
 */
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix, relative, sep } from "node:path";
import { Marked } from "marked";

/** Sections of the navigation, in order; pages within one in the order of the index, then by title. */
const sections = [
  { title: "Guides", prefix: "guides/" },
  { title: "Reference", prefix: "reference/" },
  { title: "How it works", prefix: "" },
];

/** Pages of single codes are listed on this page, not in the navigation of every other. */
const diagnosticsPage = "reference/diagnostics.md";
const errorsPrefix = "reference/errors/";

const escapeHtml = (text) =>
  text.replace(/[&<>"']/g, (each) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[each]);

/** The anchor of a heading; `test/guards/markdown.ts` checks links by the same rule. */
const anchorOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replace(/ /g, "-");

/** `reference/tools.md#context` as seen from a page → the site's own address. */
function siteLink(page, href) {
  if (/^[a-z]+:/.test(href) || href.startsWith("#")) return href;
  const [path = "", anchor] = href.split("#");
  const target = posix.join(posix.dirname(page), path);
  if (!target.endsWith(".md") || target.startsWith("..")) return href;
  return `${addressOf(target)}${anchor === undefined ? "" : `#${anchor}`}`;
}

function addressOf(page) {
  if (page === "index.md") return "/docs";
  return `/docs/${page.replace(/\.md$/, "").replace(/\/README$/, "")}`;
}

function outputOf(page) {
  return page.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html");
}

function createRenderer(page) {
  return new Marked({
    gfm: true,
    walkTokens(token) {
      if (token.type === "link") token.href = siteLink(page, token.href);
    },
    renderer: {
      heading({ tokens, depth, text }) {
        const id = anchorOf(text.replace(/`/g, ""));
        return `<h${depth} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      table(token) {
        const cell = (tag, each) => `<${tag}>${this.parser.parseInline(each.tokens)}</${tag}>`;
        const head = token.header.map((each) => cell("th", each)).join("");
        const rows = token.rows.map((row) => `<tr>${row.map((each) => cell("td", each)).join("")}</tr>`).join("\n");
        return `<div class="table"><table><thead><tr>${head}</tr></thead><tbody>\n${rows}\n</tbody></table></div>\n`;
      },
      // Pages are Markdown; markup in them is shown, not run.
      html: ({ text }) => escapeHtml(text),
    },
  });
}

function navigation(pages, current) {
  const link = ({ page, title }) => {
    const isHere = page === current || (page === diagnosticsPage && current.startsWith(errorsPrefix));
    const here = isHere ? ' aria-current="page"' : "";
    return `<li><a href="${addressOf(page)}"${here}>${escapeHtml(title)}</a></li>`;
  };
  const sectionOf = (page) => {
    const matching = sections.filter(({ prefix }) => page.startsWith(prefix));
    return matching.sort((a, b) => b.prefix.length - a.prefix.length)[0];
  };
  const lists = sections.map((section) => {
    const own = pages.filter(
      ({ page }) => page !== "index.md" && !page.startsWith(errorsPrefix) && sectionOf(page) === section,
    );
    return `<details open><summary>${section.title}</summary><ul>\n${own.map(link).join("\n")}\n</ul></details>`;
  });
  return `<nav aria-label="Pages">\n<a class="home" href="/docs">BDK</a>\n${lists.join("\n")}\n</nav>`;
}

function renderPage({ page, title, html }, pages) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page === "index.md" ? title : `${title} · BDK`)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
${navigation(pages, page)}
<main id="main">
${html}</main>
</body>
</html>
`;
}

const style = `:root {
  color-scheme: light dark;
  --text: light-dark(#1c2024, #e6e8eb);
  --soft: light-dark(#5f6b76, #9aa5b1);
  --line: light-dark(#dfe3e8, #2c333b);
  --back: light-dark(#ffffff, #14171a);
  --code: light-dark(#f5f7f9, #1c2126);
  --link: light-dark(#0b62c4, #7db7ff);
}
* { box-sizing: border-box }
body { margin: 0; display: grid; grid-template-columns: 15rem minmax(0, 1fr); font: 16px/1.6 system-ui, sans-serif; color: var(--text); background: var(--back) }
nav { border-right: 1px solid var(--line); padding: 1.5rem 1rem; height: 100vh; position: sticky; top: 0; overflow-y: auto; font-size: 0.92rem }
nav .home { font-weight: 700; color: inherit; text-decoration: none }
nav details { margin-top: 1rem }
nav summary { color: var(--soft); cursor: pointer }
nav ul { list-style: none; margin: 0.25rem 0 0; padding: 0 }
nav li a { display: block; padding: 0.15rem 0.5rem; border-radius: 4px; color: inherit; text-decoration: none }
nav li a:hover, nav a[aria-current] { background: var(--code) }
nav a[aria-current] { color: var(--link) }
main { padding: 2rem 2.5rem 6rem; max-width: 56rem }
a { color: var(--link) }
h1, h2, h3 { line-height: 1.25; margin: 2.2em 0 0.6em }
h1 { margin-top: 0 }
h1 a, h2 a, h3 a { color: inherit; text-decoration: none }
code { font: 0.88em ui-monospace, monospace; background: var(--code); padding: 0.1em 0.3em; border-radius: 3px }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 6px; padding: 0.9rem 1rem; overflow-x: auto; line-height: 1.45 }
pre code { background: none; padding: 0 }
.table { overflow-x: auto }
table { border-collapse: collapse; font-size: 0.94rem }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.8rem 0.4rem 0; border-bottom: 1px solid var(--line) }
.skip { position: absolute; left: -999rem }
.skip:focus { left: 1rem; top: 1rem; background: var(--back) }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
@media (max-width: 50rem) {
  body { display: block }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line) }
  main { padding: 1.5rem 1rem 4rem }
}
`;

/** The list of all codes, below the page about diagnostics. */
function listOfCodes(pages) {
  const errors = pages.filter(({ page }) => page.startsWith(errorsPrefix));
  const items = errors.map(({ page, title }) => `<li><a href="${addressOf(page)}">${escapeHtml(title)}</a></li>`);
  return `<h2 id="codes"><a href="#codes">Codes</a></h2>\n<ul>\n${items.join("\n")}\n</ul>\n`;
}

async function readPages(folder) {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = found
    .filter((each) => each.isFile() && each.name.endsWith(".md"))
    .map((each) => relative(folder, join(each.parentPath, each.name)).split(sep).join("/"))
    .sort();
  return Promise.all(
    names.map(async (page) => {
      const text = await readFile(join(folder, page), "utf8");
      const title = /^# (.+)$/m.exec(text)?.[1]?.replace(/`/g, "") ?? page;
      return { page, title, html: createRenderer(page).parse(text) };
    }),
  );
}

/**
 * Renders every page of `source` into `target`, replacing what was there. Other files (pictures) are copied.
 *
 * @returns files written, relative to `target`
 */
export async function buildDocs(source, target) {
  const pages = await readPages(source);
  const temporary = `${target}.${process.pid}.tmp`;
  await rm(temporary, { recursive: true, force: true });
  await cp(source, temporary, { recursive: true, filter: (path) => !path.endsWith(".md") });
  const written = ["style.css"];
  await writeFile(join(temporary, "style.css"), style);
  const diagnostics = pages.find(({ page }) => page === diagnosticsPage);
  if (diagnostics !== undefined) diagnostics.html += listOfCodes(pages);
  for (const each of pages) {
    const file = outputOf(each.page);
    await mkdir(dirname(join(temporary, file)), { recursive: true });
    await writeFile(join(temporary, file), renderPage(each, pages));
    written.push(file);
  }
  await rm(target, { recursive: true, force: true });
  await rename(temporary, target);
  return written;
}
