// Symbols in the compiler's texts. A name that is no plain identifier is quoted: `@"torch-jit-export_dispatch_0"`.
import { stringOf } from 'mlir-parser-ts';

/** Regular expression for a printed symbol, without groups. */
export const SYMBOL = String.raw`@(?:"(?:[^"\\]|\\.)*"|[\w$.-]+)`;

/** Regular expression for the name of a value, such as `%layers.0.weight` or `%5#1`, without groups. */
export const VALUE = String.raw`%[\w.$#-]+`;

/** The name of a printed symbol. @param symbol text that matches `SYMBOL` */
export const nameOfSymbol = (symbol: string): string => stringOf(symbol.slice(1)) ?? symbol.slice(1);
