// The page's data as text that can stand in any element: compressed, and in letters that HTML has no meaning for.
import { gzipSync } from 'node:zlib';
import type { PageData } from './data.ts';

/** gzip in base64. The script reads it back by `DecompressionStream`, which every browser has had since 2023. */
export const packed = (data: PageData): string =>
  gzipSync(JSON.stringify(data), { level: 9 }).toString('base64');

/** A number with as many digits as anybody can use, which are all that is paid for. */
export const short = (value: number, digits = 4): number => Number(value.toPrecision(digits));
