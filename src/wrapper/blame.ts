// Finds the configurations that make a compile fail. A failure of the machine, such as a full disk, blames no configuration.
import { existsSync } from 'node:fs';
import { constants as system } from 'node:os';
import { join } from 'node:path';
import { lineIndex, type LineIndex } from 'mlir-parser-ts';
import { compileAside } from '../compiler/ask.ts';
import { withTrailingFlags, type Compile } from '../compiler/command.ts';
import { isInjected, leaveOut } from '../decision/decision.ts';
import type { Place } from '../input/operation.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { writtenNow } from '../store/author.ts';
import type { Store } from '../store/store.ts';
import type { RunResult } from '../system/run.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { injectedCommand, limitFor } from '../plan/injected-command.ts';
import { planCompile, type Plan } from '../plan/route.ts';
import { because } from '../system/reason.ts';

/** Messages about memory, disks, permissions, file descriptors and the linker. */
const ABOUT_MACHINE =
  /no space left|input\/output error|cannot allocate|out of memory|temporarily unavailable|too many open files|quota exceeded|permission denied|read-only file system|\blinker\b|\blld\b|failed to (?:open|create|write)|could not open/i;

type Failed = Pick<RunResult, 'code' | 'signal' | 'cut' | 'stderr'>;

/** The signal that ended the compiler, or a script around it; null for none. */
function signalOf({ code, signal }: Failed): string | null {
  const [name] = Object.entries(system.signals).find(([, number]) => number + 128 === code) ?? [];
  return signal ?? name ?? null;
}

/** Whether the system killed the compiler, as it does when memory runs out. */
export const wasKilled = (failed: Failed): boolean => failed.cut === null && signalOf(failed) === 'SIGKILL';

/** Whether the machine or a time limit is to blame for a failed compile. */
export const isOfMachine = (failed: Failed): boolean =>
  failed.cut !== null || wasKilled(failed) || ABOUT_MACHINE.test(failed.stderr.toString());

const CRASH = 'error: the compiler crashed: ';

/**
 * Repeats a failed compile with a scratch output.
 * @param workSeconds limit of processor time
 * @returns the compiler's messages if it fails again; null if it succeeds, or fails because of the machine or the time limit
 * @throws UserError when nothing can be written
 */
export async function failsAgain(
  { argv, stdin }: Compile,
  executable: string,
  { env, cacheDirectory }: Pick<Surroundings, 'env' | 'cacheDirectory'>,
  workSeconds: number,
): Promise<string | null> {
  return withScratchFolder(cacheDirectory, 'again', async (folder) => {
    const output = join(folder, 'output');
    const again = withTrailingFlags(argv, ['-o', output]);
    const asked = { env, cacheDirectory, stdin, workSeconds };
    const result = await compileAside(executable, again, asked);
    if ((result.code === 0 && existsSync(output)) || isOfMachine(result)) return null;
    const [signal, said] = [signalOf(result), result.stderr.toString()];
    return signal === null ? said : `${CRASH}${signal}\n${said}`;
  });
}

/**
 * Marks configurations as broken, forever, if the compile fails again with one of them alone. The messages point at its operation, or it
 * is found by halving.
 * @param said messages of the compile with all configurations
 */
export async function markBroken(
  plan: Plan,
  said: string,
  store: Store,
  surroundings: Surroundings,
): Promise<void> {
  const injected = plan.decisions.filter(isInjected);
  const all = [...new Set(injected.map(({ tunable }) => tunable.key))];
  const saidWith = async (keys: readonly string[]) =>
    keys.length === all.length ? said : failsWith(keys, plan, surroundings);
  const mark = (key: string, own: string) => {
    for (const { tunable, record, configuration } of injected) {
      const subject = tunable.key === key && record !== null ? store.subject(record) : undefined;
      const broken = { configuration, kind: 'compile-error', reason: firstError(own) } as const;
      if (subject !== undefined) store.addMarks(subject, [{ ...broken, ...writtenNow() }]);
    }
  };
  let isMarked = false;
  for (const key of blamedFor(plan, said)) {
    const own = await saidWith([key]);
    if (own !== null) mark(key, own);
    isMarked ||= own !== null;
  }
  if (isMarked) return;
  const found = await failingOne(all, saidWith);
  // The next build makes a new plan, and finds the next one.
  if (found !== null) mark(found.key, found.said);
}

/**
 * One workload whose configuration fails alone, although the compiler says nothing about its operation.
 * @param saidWith messages of a compile with the configurations of some workloads; null if it succeeds
 * @returns null if every compile with a configuration fails without a crash: then the injection may be to blame
 */
async function failingOne(
  all: readonly string[],
  saidWith: (keys: readonly string[]) => Promise<string | null>,
): Promise<{ readonly key: string; readonly said: string } | null> {
  /** Compiles that succeeded: with one of them, the injection is not to blame. */
  let successes = 0;
  const tryWith = async (keys: readonly string[]) => {
    const said = await saidWith(keys);
    if (said === null) successes++;
    return said;
  };
  let keys = all;
  while (keys.length > 1) {
    const half = keys.slice(0, keys.length >> 1);
    keys = (await tryWith(half)) === null ? keys.slice(half.length) : half;
  }
  const [key] = keys;
  const said = key === undefined ? null : await saidWith([key]);
  if (said === null) return null;
  const others = all.filter((one) => one !== key);
  if (successes === 0 && others.length > 0) await tryWith(others);
  return successes > 0 || (others.length === 0 && said.startsWith(CRASH)) ? { key: key!, said } : null;
}

/** Compiles with the configurations of these workloads alone. @returns the messages if that fails; null otherwise */
async function failsWith(
  keys: readonly string[],
  plan: Plan,
  surroundings: Surroundings,
): Promise<string | null> {
  const own = leaveOut(plan.decisions, (key) => (keys.includes(key) ? null : because('worse-in-program')));
  const part = planCompile(plan, own, surroundings);
  const alone = await injectedCommand(part, surroundings);
  if (alone === null || part.injection.route === 'none') return null;
  const { executable } = plan.command.compiler;
  return failsAgain(alone, executable, surroundings, limitFor(plan.inspected.input, surroundings));
}

/** Keys of the workloads whose operations the messages point at. A single one is blamed for an error at any place. */
function blamedFor(
  { decisions, inspected: { input } }: Pick<Plan, 'decisions' | 'inspected'>,
  stderr: string,
): ReadonlySet<string> {
  const injected = decisions.filter(isInjected);
  const lines = new Set([...stderr.matchAll(/:(\d+):\d+: error:/g)].map((match) => Number(match[1])));
  const index = lineIndex(input.bytes);
  const isSingle = lines.size > 0 && injected.length === 1;
  return new Set(
    injected
      .filter(({ place }) => isSingle || lines.has(lineOf(place, index)))
      .map(({ tunable }) => tunable.key),
  );
}

const lineOf = ({ operation, location }: Place, index: LineIndex): number =>
  operation === null ? Number(/:(\d+):\d+$/.exec(location ?? '')?.[1]) : index.locate(operation.start).line;

/** The first line with an error. */
export const firstError = (stderr: string): string =>
  stderr.split('\n').find((line) => line.includes('error')) ?? 'no message';
