// Reads the files of `@file` arguments with the compiler's encoding rules.
import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ResponseFile } from './response.ts';

/** Reads a response file relative to `directory`: UTF-8, or UTF-16 with a byte order mark. */
export function readResponseFile(path: string, directory = process.cwd()): ResponseFile {
  try {
    const full = resolve(directory, path);
    const stat = statSync(full, { bigint: true });
    if (stat.isDirectory()) return { kind: 'unreadable', reason: 'is a directory' };
    // A read would take a pipe's bytes from the compiler.
    if (!stat.isFile()) return { kind: 'unreadable', reason: 'is not a regular file' };
    const bytes = readFileSync(full);
    const text = decode(bytes);
    if (text === null) return { kind: 'unreadable', reason: 'is not UTF-8' };
    return { kind: 'text', text, id: `${stat.dev}:${stat.ino}` };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'missing' };
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : 'cannot be read' };
  }
}

/** Null for invalid UTF-8, which the compiler accepts but a string cannot hold. */
function decode(bytes: Buffer): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString('utf16le');
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString('utf16le');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}
