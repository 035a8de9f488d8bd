// Hashes of texts and files.
import { piecesOfFile } from './bytes.ts';

/** 16 hexadecimal digits, for file names and labels: FNV-1a with two seeds, because loading node:crypto takes longer than a look-up. Collisions are possible. */
export function shortHash(text: string): string {
  return fnv1a(text, 0x811c9dc5) + fnv1a(text, 0x2f0b4c47);
}

function fnv1a(text: string, seed: number): string {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** SHA-256 of bytes, or of a text in UTF-8, as 64 hexadecimal digits. Loads node:crypto, so no hit calls it. */
export const sha256 = (content: string | Uint8Array): string =>
  process.getBuiltinModule('node:crypto').hash('sha256', content);

/** SHA-256 of a file. @throws errors of the file system */
export function fileSha256(path: string): string {
  const hash = process.getBuiltinModule('node:crypto').createHash('sha256');
  for (const piece of piecesOfFile(path)) hash.update(piece);
  return hash.digest('hex');
}
