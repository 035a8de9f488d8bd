// Symbols in the compiler's texts. A name that is no plain identifier is quoted: `@"torch-jit-export_dispatch_0"`.

/** Regular expression for a printed symbol, without groups. */
export const SYMBOL = String.raw`@(?:"(?:[^"\\]|\\.)*"|[\w$.-]+)`;

/**
 * The name of a printed symbol. Bytes outside of ASCII are printed as `\C3`, in UTF-8.
 * @param symbol text that matches `SYMBOL`
 */
export function nameOfSymbol(symbol: string): string {
  if (symbol[1] !== '"') return symbol.slice(1);
  const bytes = symbol
    .slice(2, -1)
    .replaceAll(/\\([0-9A-Fa-f]{2}|.)/g, (_, code: string) =>
      code.length === 2 ? String.fromCharCode(parseInt(code, 16)) : (ESCAPES[code] ?? code),
    );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t' };
