// Copies of a program's functions for the sizes of the user's calls, as a variant of the command. Dynamic loops run at a fraction of the speed
// of static ones. Not loaded without the setting `dim`.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileAside } from '../../compiler/ask.ts';
import { originalCompile, withTrailingFlags } from '../../compiler/command.ts';
import { hasFlag } from '../../compiler/arguments.ts';
import { inputIdentity } from '../../compiler/command-identity.ts';
import { mayHaveForms } from '../../input/input.ts';
import { dynamicFunctions } from '../../input/sizes-at-calls.ts';
import { specialised, type KnownSizes } from '../../input/specialised.ts';
import { surveyed, type FormedProgram } from '../../plan/inspected.ts';
import { textWriter } from '../../plan/write-once.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { SURVEYS } from '../../system/cache.ts';
import { hasFields, isText } from '../../system/data.ts';
import { isParsable } from '../../system/heap.ts';
import { memoryOf } from '../../system/memory.ts';
import { withScratchFolder } from '../../system/scratch.ts';
import { preferredForms } from './forms.ts';
import type { CommandVariant } from './variant.ts';

/** Most copies in a program. Each takes as long to compile as the function, and to tune. */
const MOST_COPIES = 8;

/** Passes that carry the sizes into all types, where forms and the survey read them. */
const FOLDING = ['canonicalize', 'cse'];

/** The form of a function. */
const COPY = 'copy of known sizes';

/**
 * One part for each call of the user's, by the shapes of its arguments; functions with equal shapes share a part. No parts for a program
 * without dynamic sizes, with more than a few calls, or with the user's own preprocessing.
 */
export function sizedVariant(program: FormedProgram, surroundings: Surroundings): CommandVariant {
  const calls = Map.groupBy(callsOf(program, surroundings), keyOf);
  const parts = new Map([...calls.keys()].map((key) => [key, COPY]));
  return {
    parts,
    base: [],
    async commandWith(keys) {
      const { command } = program;
      const chosen = [...calls].filter(([key]) => keys.includes(key));
      const input = await sizedInput(
        program,
        chosen.flatMap(([, own]) => own),
        surroundings,
      );
      if (input === null) return command;
      const names = chosen.map(([key]) => `sized ${key}`).sort();
      const rewriting = { isFormed: false, names, passes: FOLDING, files: [input], input };
      return { ...command, rewriting };
    },
    // Copies are the same operations. The comparison of the whole programs checks them.
    wrongAmong: () => Promise.resolve(new Map()),
    blamedFor: () => new Map(),
    slower: () => new Set(),
  };
}

/**
 * Copies with their operations in the preferred forms. The forms gain most of it: a copy alone can be as slow as the program as it is written,
 * and two trials take twice as long.
 */
export async function inPreferredForms(
  copies: CommandVariant,
  { inspected }: FormedProgram,
  surroundings: Surroundings,
): Promise<CommandVariant> {
  const base = [...copies.parts.keys()];
  const sized = await surveyed(await copies.commandWith(base), inspected, surroundings);
  const forms = sized === null ? null : preferredForms(sized, surroundings);
  if (sized === null || forms === null || forms.parts.size === 0) return copies;
  const formed = (keys: readonly string[]) => keys.filter((key) => forms.parts.has(key));
  return {
    parts: new Map([...copies.parts, ...forms.parts]),
    base,
    commandWith: (keys) =>
      formed(keys).length === 0 ? Promise.resolve(sized.command) : forms.commandWith(formed(keys)),
    wrongAmong: (program, keys, isRefused) => forms.wrongAmong(program, formed(keys), isRefused),
    blamedFor: (failure, keys) => forms.blamedFor(failure, formed(keys)),
    // The written operations are in other dispatches, of all sizes.
    slower: () => new Set(),
  };
}

function callsOf({ command, inspected }: FormedProgram, { settings }: Surroundings): KnownSizes[] {
  const { input } = inspected;
  const { reading } = input;
  const isPlain =
    mayHaveForms(reading, settings) &&
    !reading.ownPreprocessing &&
    !reading.splits &&
    !input.isHuge &&
    !hasFlag(command.arguments, 'compile-from');
  if (!isPlain) return [];
  const calls = dynamicFunctions(input.bytes, settings.sizes).flatMap(({ name, calls }) =>
    calls.filter(({ isExtra }) => !isExtra).map(({ shapes }) => ({ function: name, shapes })),
  );
  return calls.length > MOST_COPIES ? [] : calls;
}

/** The shapes of a call, such as `1x1, 1, 24 of 1x2x512x16`. Names of functions mean nothing. */
function keyOf({ shapes }: KnownSizes): string {
  const texts = shapes.map((shape) => (shape === null ? '-' : shape.join('x')));
  const runs: { text: string; count: number }[] = [];
  for (const text of texts) {
    const last = runs.at(-1);
    if (last?.text === text) last.count++;
    else runs.push({ text, count: 1 });
  }
  return runs.map(({ text, count }) => (count === 1 ? text : `${count} of ${text}`)).join(', ');
}

const known = memoryOf(
  SURVEYS,
  hasFields<{ readonly identity: string; readonly path: string }>({ identity: isText, path: isText }),
);

/**
 * Path of the program with these copies, after the phase `abi`; null if the compiler fails, or if the program is too large or not understood.
 */
async function sizedInput(
  { command, inspected: { input } }: FormedProgram,
  calls: readonly KnownSizes[],
  surroundings: Surroundings,
): Promise<string | null> {
  const { cacheDirectory, env } = surroundings;
  const { arguments: args, files } = command;
  const identity = `sized ${inputIdentity({ arguments: args, files }, input.digest)} ${JSON.stringify(calls)}`;
  const before = known.recall(cacheDirectory, identity)?.path ?? null;
  if (before !== null && existsSync(before)) return before;
  return withScratchFolder(cacheDirectory, 'sized', async (folder) => {
    const output = join(folder, 'abi.mlir');
    const flags = ['--compile-to=abi', '--mlir-print-debuginfo', '-o', output];
    const { argv, stdin } = originalCompile(command, input);
    const { executable } = command.compiler;
    const asked = { env, cacheDirectory, stdin };
    const { code } = await compileAside(executable, withTrailingFlags(argv, flags), asked);
    const text = code === 0 ? withCopies(readFileSync(output), calls) : null;
    if (text === null) return null;
    const write = await textWriter(cacheDirectory);
    const path = write(text);
    known.remember(cacheDirectory, { identity, path });
    return path;
  });
}

/** Weights stand behind the program, as a part that no string may be large enough for. */
const WEIGHTS = '\n{-#\n';

function withCopies(program: Buffer, calls: readonly KnownSizes[]): Uint8Array | null {
  const end = program.lastIndexOf(WEIGHTS);
  const code = end < 0 ? program : program.subarray(0, end);
  if (!isParsable(code.length)) return null;
  const text = specialised(code.toString('latin1'), calls);
  return text === null
    ? null
    : Buffer.concat([Buffer.from(text, 'latin1'), end < 0 ? Buffer.alloc(0) : program.subarray(end)]);
}
