// The HTML of a page's Markdown.
import { Marked } from 'marked';

export interface Content {
  /** Text of the first heading. */
  readonly title: string;
  readonly html: string;
}

const isLocal = (target: string): boolean => !/^[a-z]+:/.test(target);

/** Anchors as GitHub makes them. The second heading of the same text gets the suffix `-1`. */
function anchors(): (heading: string) => string {
  const counts = new Map<string, number>();
  return (heading) => {
    const own = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(own) ?? 0;
    counts.set(own, count + 1);
    return count === 0 ? own : `${own}-${count}`;
  };
}

/** @param relink target in the site of a relative link */
export function contentOf(markdown: string, relink: (target: string) => string): Content {
  const anchorOf = anchors();
  const marked = new Marked({
    walkTokens(token) {
      if ((token.type === 'link' || token.type === 'image') && isLocal(token['href'] as string))
        token['href'] = relink(token['href'] as string);
    },
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // Comments mark generated parts.
      html: ({ text }) => text.replaceAll(/<!--[^]*?-->\n*/g, ''),
    },
  });
  const html = marked.parse(markdown, { async: false });
  return {
    title: /^# (.*)$/m.exec(markdown)?.[1] ?? '',
    // The keyboard scrolls wide blocks.
    html: html
      .replaceAll('<pre>', '<pre tabindex="0">')
      .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>'),
  };
}
