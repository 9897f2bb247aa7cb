import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useMemo } from "preact/hooks";

const marked = new Marked({ gfm: true, breaks: true });

// Links leave the page without telling where from; pictures of other sites are blocked by the page's own policy.
DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  }
});

/** Text of a model as Markdown. Whatever markup it holds is cleaned: no script, no style, no form, no frame. */
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
