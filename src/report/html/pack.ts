// The page's data as text without characters that HTML interprets: compressed, in base64.
import { gzipSync } from 'node:zlib';
import type { PageData } from './data.ts';

/** gzip in base64. The script reads it back by `DecompressionStream`, which every browser has had since 2023. */
export const packed = (data: PageData): string =>
  gzipSync(JSON.stringify(data), { level: 9 }).toString('base64');

/** A number with few digits, which keeps the JSON small. */
export const short = (value: number, digits = 4): number => Number(value.toPrecision(digits));
