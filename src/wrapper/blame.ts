// Finds the configurations that make a compile fail. A failure of the machine, such as a full disk, blames no configuration.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lineIndex, type LineIndex } from 'mlir-parser-ts';
import { compileAside } from '../compiler/ask.ts';
import { withTrailingFlags, type Compile } from '../compiler/command.ts';
import { isInjected, leaveOut, type Injected } from '../decision/decision.ts';
import type { Place } from '../input/operation.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { writtenNow } from '../store/author.ts';
import type { Store } from '../store/store.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { injectedCommand } from '../plan/injected-command.ts';
import { planCompile } from '../plan/route.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { Plan } from './ending.ts';
import { because } from '../system/reason.ts';

/** Messages about memory, disks, permissions, file descriptors and the linker. */
const ABOUT_MACHINE =
  /no space left|input\/output error|cannot allocate|out of memory|temporarily unavailable|too many open files|quota exceeded|permission denied|read-only file system|\blinker\b|\blld\b|failed to (?:open|create|write)|could not open/i;

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
    const { code, cut, signal, stderr } = await compileAside(executable, again, asked);
    const said = stderr.toString();
    const hasWorked = code === 0 && existsSync(output);
    const wasKilled = signal === 'SIGKILL' && cut === null;
    return hasWorked || cut !== null || wasKilled || ABOUT_MACHINE.test(said) ? null : said;
  });
}

/**
 * Marks configurations as broken, forever: the messages point at the operation, and the compile fails again with this configuration alone.
 * @param stderr messages of the compile with all configurations
 */
export async function markBroken(
  plan: Plan,
  inspected: Inspected,
  stderr: string,
  store: Store,
  surroundings: Surroundings,
): Promise<void> {
  for (const one of blamed(plan, stderr)) {
    const subject = one.record === null ? undefined : store.subject(one.record);
    if (subject === undefined) continue;
    const said = await failingAlone(one, plan, inspected, stderr, surroundings);
    if (said === null) continue;
    store.addMarks(subject, [
      { configuration: one.configuration, kind: 'compile-error', reason: firstError(said), ...writtenNow() },
    ]);
  }
}

/** Compiles with the configuration of one operation alone. @returns the messages if that fails; null otherwise */
async function failingAlone(
  { tunable: { key: blamedKey } }: Injected,
  { decisions, command, workSeconds }: Plan,
  inspected: Inspected,
  stderr: string,
  surroundings: Surroundings,
): Promise<string | null> {
  const own = leaveOut(decisions, (key) => (key === blamedKey ? null : because('worse-in-program')));
  if (own.filter(isInjected).length === decisions.filter(isInjected).length) return stderr;
  const injection = planCompile(own, inspected, command, surroundings);
  const alone = await injectedCommand(injection, command, inspected, own, surroundings);
  if (alone === null || injection.route === 'none') return null;
  return failsAgain(alone, command.compiler.executable, surroundings, workSeconds());
}

/** The decisions whose operations the messages point at. A single decision is blamed for an error at any place. */
function blamed({ decisions, input }: Plan, stderr: string): Injected[] {
  const injected = decisions.filter(isInjected);
  const lines = new Set([...stderr.matchAll(/:(\d+):\d+: error:/g)].map((match) => Number(match[1])));
  if (lines.size > 0 && injected.length === 1) return injected;
  const index = lineIndex(input.bytes);
  return injected.filter(({ place }) => lines.has(lineOf(place, index)));
}

const lineOf = ({ operation, location }: Place, index: LineIndex): number =>
  operation === null ? Number(/:(\d+):\d+$/.exec(location ?? '')?.[1]) : index.locate(operation.start).line;

/** The first line with an error. */
export const firstError = (stderr: string): string =>
  stderr.split('\n').find((line) => line.includes('error')) ?? 'no message';
