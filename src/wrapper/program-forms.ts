// A program in other forms than it is written in: its convolutions are rewritten before the compiler optimises anything. The
// program is compiled and measured like any other, and ships only where it was run and is right and faster than stock.
import { passesOf, type Command } from '../compiler/command.ts';
import { programIdentity } from '../compiler/command-identity.ts';
import { chooseForms } from '../form/choose.ts';
import { operationsOf } from '../input/operations.ts';
import { LEAST_RATIO } from '../program/slower.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import { mayPreprocess } from '../settings/settings.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { interpreterPass } from '../spec/pipeline.ts';
import { FORMS, pathIn, SPECS } from '../system/cache.ts';
import { createDigest } from '../system/digest.ts';
import { memoryOf } from '../system/memory.ts';
import { isMoreTime } from '../tuning/undecided.ts';
import type { Inspected } from './inspect.ts';
import { writeOnce } from './write-once.ts';

/** A program in other forms. */
export interface FormedProgram {
  readonly command: Command;
  /** With the operations that the compiler makes of the forms. */
  readonly inspected: Inspected;
}

/** What is known of a program in other forms. */
export interface FormsMemory {
  /** Of the program in these forms: `programIdentity`. */
  readonly identity: string;
  /** `open` where nobody has found out. */
  readonly verdict: 'better' | 'worse' | 'open';
  readonly reason: string;
  /** The most that a build could spend on it. */
  readonly budgetSeconds: number;
  readonly attempts: number;
}

export const formsMemory = memoryOf(FORMS, isFormsMemory, { outlivesBuild: true });

/** So many builds try to find out; after that only a build with more time. */
const MOST_ATTEMPTS = 3;

/** The command with all convolutions in their preferred forms; null where none has another form or the user has a pipeline. */
export async function rewritten(
  command: Command,
  { input: { convolutions, reading } }: Inspected,
  { settings, cacheDirectory }: Surroundings,
): Promise<Command | null> {
  const { ownPipeline, dataTiling } = reading;
  if (ownPipeline || dataTiling || !mayPreprocess(settings.inject)) return null;
  const choices = chooseForms(convolutions);
  if (choices.length === 0) return null;
  // Nothing of this is loaded for a program without convolutions.
  const { formsSpec, REWRITE } = await import('../form/spec.ts');
  const text = Buffer.from(formsSpec(choices));
  const digest = await createDigest();
  const path = writeOnce(pathIn(cacheDirectory, SPECS, digest([text])), text);
  // The functions of the forms are in their places by then.
  return { ...command, rewriting: { pass: `${interpreterPass(path, REWRITE)},symbol-dce`, path } };
}

/** Whether a build with this budget should try the program in its forms. */
export const isWorthTrying = (memory: FormsMemory | null, budgetSeconds: number): boolean =>
  memory === null ||
  (memory.verdict === 'open' &&
    (memory.attempts < MOST_ATTEMPTS || isMoreTime(budgetSeconds, memory.budgetSeconds)));

/** The program with the operations that the compiler makes of its forms; null where the compiler does not get that far. */
export async function surveyed(
  command: Command,
  { input, site }: Inspected,
  surroundings: Surroundings,
): Promise<FormedProgram | null> {
  const { bytes, digest, reading, waitedSeconds } = input;
  const found = await operationsOf(bytes, () => Promise.resolve(digest), command, reading, surroundings);
  if (typeof found === 'string') return null;
  // What has a form is not rewritten twice.
  const own = { ...found, convolutions: [], waitedSeconds: waitedSeconds + found.waitedSeconds };
  return { command, inspected: { site, input: { ...input, ...own } } };
}

/** What a run of a program in its forms says of them. */
export function verdictOn(
  { command, inspected }: FormedProgram,
  verdict: ProgramVerdict | null,
  budgetSeconds: number,
  before: FormsMemory | null,
): FormsMemory {
  const identity = formsIdentity(command, inspected);
  const known = (verdict: FormsMemory['verdict'], reason: string): FormsMemory => ({
    ...{ identity, verdict, reason, budgetSeconds },
    attempts: 1 + (before?.attempts ?? 0),
  });
  const functions = verdict?.functions ?? [];
  const wrong = functions.find(({ equal }) => equal === false);
  if (wrong !== undefined) return known('worse', wrong.reason ?? 'its results are different');
  const ratios = functions.map(({ equal, timing }) => (equal === true ? timing : null));
  if (functions.length === 0 || ratios.some((timing) => timing === null))
    return known('open', verdict?.reason ?? 'there was no time to find out');
  const least = Math.min(...ratios.map((timing) => timing!.ratio));
  return least >= LEAST_RATIO
    ? known('better', `${least.toFixed(2)}x as fast as stock`)
    : known('worse', `it takes ${(1 / least).toFixed(2)}x as long as stock`);
}

export const formsIdentity = (command: Command, { input, site }: Inspected): string =>
  programIdentity(command, input.digest, site.deviceKey);

/** Whether a command compiles its program in other forms. */
export const isRewritten = (command: Command): boolean => passesOf(command).length > 0;

function isFormsMemory(value: unknown): value is FormsMemory {
  const { identity, verdict, reason, budgetSeconds, attempts } = (value ?? {}) as Partial<
    Record<keyof FormsMemory, unknown>
  >;
  return (
    typeof identity === 'string' &&
    (verdict === 'better' || verdict === 'worse' || verdict === 'open') &&
    typeof reason === 'string' &&
    typeof budgetSeconds === 'number' &&
    typeof attempts === 'number'
  );
}
