import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useMemo } from "preact/hooks";

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (each) => `&#${each.charCodeAt(0)};`);

/** Markup in a text is shown as it is written, and a picture is a link: nothing is fetched because a model said so. */
const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text === "" ? href : text)}</a>`,
  },
});

// Links leave the page without telling where from.
DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
});

/** Text of a model as Markdown. What the renderer made of it is cleaned once more: no script, no style, no form. */
export function Markdown({ text }: { readonly text: string }) {
  const html = useMemo(() => {
    const options = {
      USE_PROFILES: { html: true },
      FORBID_TAGS: ["style", "form", "input", "button"],
      FORBID_ATTR: ["style"],
    };
    return DOMPurify.sanitize(marked.parse(text, { async: false }), options);
  }, [text]);
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}
