// Locations in texts of the compiler: `loc(...)`, which can be nested.

/** Removes each `loc(...)` from a text of the compiler. */
export function withoutLocations(text: string): string {
  let kept = '';
  for (let at = 0; ;) {
    const start = text.indexOf(' loc(', at);
    if (start < 0) return kept + text.slice(at);
    kept += text.slice(at, start);
    const token = /"(?:[^"\\]|\\.)*"|[()]/g;
    token.lastIndex = start;
    let depth = 0;
    do {
      const [found] = token.exec(text) ?? [''];
      // An unterminated location reaches to the end of the text.
      if (found === '') return kept;
      depth += found === '(' ? 1 : found === ')' ? -1 : 0;
    } while (depth > 0 || text[token.lastIndex - 1] === '"');
    at = token.lastIndex;
  }
}
