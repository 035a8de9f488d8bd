// The digest of a program, by which the database knows it. Not loaded for programs without decisions.
import { join } from 'node:path';
import { compileAside } from '../compiler/ask.ts';
import { originalCompile, withTrailingFlags, type Command } from '../compiler/command.ts';
import { inputIdentity } from '../compiler/command-identity.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { piecesOfFile } from '../system/bytes.ts';
import { SURVEYS } from '../system/cache.ts';
import { hasFields, isText } from '../system/data.ts';
import { isParsable } from '../system/heap.ts';
import { memoryOf } from '../system/memory.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { canonicalDigest } from './canonical.ts';
import { compactor, type Compacted } from './compact.ts';
import type { ReadInput } from './input.ts';
import { mostText } from './text.ts';

const digests = memoryOf(
  SURVEYS,
  hasFields<{ readonly identity: string; readonly digest: string }>({ identity: isText, digest: isText }),
);

/** Prints the program without aliases and locations, in one form for all spellings. */
const PRINTING = [
  '--compile-to=input',
  '--mlir-print-op-generic',
  '--mlir-print-local-scope',
  '--mlir-print-debuginfo=false',
];

/**
 * Digest of a program as the compiler reads it: names of functions and values, the order of functions, dead code, locations and
 * spelling change nothing. Programs that are not understood have the digest of their bytes. The compiler runs once for each input.
 */
export async function programDigest(
  input: ReadInput,
  command: Command,
  surroundings: Surroundings,
): Promise<string> {
  const { cacheDirectory } = surroundings;
  // Printing a huge program takes longer than a note about it saves.
  if (input.isHuge) return input.digest;
  // The written program: notes are about the program in other forms, too.
  const { arguments: args, files } = command;
  const identity = `program ${inputIdentity({ arguments: args, files }, input.digest)}`;
  const known = digests.recall(cacheDirectory, identity);
  if (known !== null) return known.digest;
  const printed = await print(input, command, surroundings);
  const digest = (printed && canonicalDigest(printed)) ?? input.digest;
  if (printed !== null) digests.remember(cacheDirectory, { identity, digest });
  return digest;
}

/** The text of a program with digests in place of weights; null if the compiler fails or the text is too large. */
async function print(
  input: ReadInput,
  command: Command,
  { env, cacheDirectory }: Surroundings,
): Promise<Uint8Array | null> {
  try {
    return await withScratchFolder(cacheDirectory, 'program', async (folder) => {
      const output = join(folder, 'program.mlir');
      const { argv, stdin } = originalCompile(command, input);
      const printing = withTrailingFlags(argv, [...PRINTING, '-o', output]);
      const asked = { env, cacheDirectory, stdin };
      const { code } = await compileAside(command.compiler.executable, printing, asked);
      return code === 0 ? read(output) : null;
    });
  } catch {
    // A failure here must not fail the build.
    return null;
  }
}

function read(path: string): Uint8Array | null {
  // Not loaded where the digest is known: that takes longer than the rest of a hit.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const rest = compactor(mostText(), () => createHash('sha256'));
  for (const piece of piecesOfFile(path)) rest.add(piece);
  const compacted = rest.compacted();
  return compacted !== null && isParsable(compacted.bytes.length) ? withDigests(compacted) : null;
}

function withDigests({ bytes, cuts }: Compacted): Uint8Array {
  let at = 0;
  const slices = cuts.flatMap(({ offset, digest }) => {
    const before = bytes.subarray(at, offset);
    at = offset;
    return [before, Buffer.from(digest!)];
  });
  return Buffer.concat([...slices, bytes.subarray(at)]);
}
