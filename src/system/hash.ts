// Short names made from long texts.

/**
 * 16 hexadecimal digits that differ for different texts as good as always. For file names and labels; whoever
 * must be sure keeps the text itself too. FNV-1a twice: loading node:crypto would cost more than the whole lookup.
 */
export function shortHash(text: string): string {
  return fnv1a(text, 0x811c9dc5) + fnv1a(text, 0x2f0b4c47);
}

function fnv1a(text: string, seed: number): string {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
