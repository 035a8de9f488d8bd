// The search of a command: its space, its progress, and Ctrl-C, which ends it.
import { backendNamed } from '../backend/index.ts';
import { describeIllegal, readUserSpace, type WrittenKnob } from '../backend/user-space.ts';
import type { Command } from '../compiler/command.ts';
import { toSearch, type Lookup } from '../decision/look-up.ts';
import { findMeasuringTools } from '../compiler/find.ts';
import { terminalOf } from '../report/terminal.ts';
import { STRATEGIES } from '../search/index.ts';
import { parseConfigText } from '../settings/config-text.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Store } from '../store/store.ts';
import { tuneWorkloads, type TuneOutcome, type Work } from '../tuning/tune-workloads.ts';
import { DEFAULT_EFFORT } from '../tuning/search-job.ts';
import type { Site } from '../site/site.ts';
import { UserError } from '../system/user-error.ts';
import { readText } from '../system/user-files.ts';
import { interrupts } from './interrupt.ts';
import { warn } from './output.ts';

/** A site, the command whose tools measure, and the seconds that were spent before. */
export interface Measured {
  readonly command: Pick<Command, 'compiler' | 'expanded'>;
  readonly site: Site;
  readonly waitedSeconds: number;
}

/** A strategy by its name, and limits of `Effort` that differ from the defaults. */
interface SearchLimits {
  readonly strategy: string;
  readonly trials?: number | undefined;
  readonly patience?: number;
}

/**
 * Searches within the budget, and keeps all trials. The first Ctrl-C ends the search and decides by its trials; the second ends
 * the process.
 * @param again keys to search even if they have a record
 */
export async function search(
  works: readonly Work[],
  store: Store,
  { command, site, waitedSeconds }: Measured,
  surroundings: Surroundings,
  { strategy, trials = DEFAULT_EFFORT.maxTrials, patience = DEFAULT_EFFORT.patience }: SearchLimits,
  again: ReadonlySet<string>,
): Promise<TuneOutcome> {
  // Without the introduction: the user has asked for the search.
  const terminal = terminalOf(null);
  const { env, settings } = surroundings;
  const tools = findMeasuringTools(command.compiler, env, surroundings);
  const seconds = settings.budgetSeconds - waitedSeconds;
  if (works.length > 0) terminal.begin(works.length, seconds);
  using signals = interrupts(terminal.clear);
  const { finishEarly, abort } = signals;
  return await tuneWorkloads(works, store, site, tools, surroundings, {
    ...{ givenSeconds: settings.budgetSeconds, budgetSeconds: seconds },
    ...{ signal: abort, finishEarly, again },
    strategy: STRATEGIES[strategy]!,
    effort: { ...DEFAULT_EFFORT, maxTrials: trials, patience },
    onProgress: (progress) => {
      if (!finishEarly.aborted) terminal.progress(progress);
    },
  }).finally(terminal.clear);
}

/**
 * Knobs of a file such as `{"distribution_m": [64, 128], "peeling": [false]}`.
 * @param path undefined for the whole space
 * @returns null for the whole space
 * @throws UserError with the file and the line
 */
export function readSpaceFile(path: string | undefined): WrittenKnob[] | null {
  if (path === undefined) return null;
  const { entries, problem } = parseConfigText(readText(path));
  if (problem !== null) throw new UserError(`${path}:${problem}`);
  return entries.map(({ key, value, line }) => ({
    name: key,
    values: typeof value === 'object' ? value : [value],
    where: `${path}:${line}`,
  }));
}

/** Works to search: those without a record, and those to search again, with the values of a file only. */
export function worksToSearch(
  works: readonly Work[],
  lookup: Lookup,
  again: ReadonlySet<string>,
  site: Site,
  searchSpace: string | undefined,
): readonly Work[] {
  const open = new Set(toSearch(lookup, searchSpace !== undefined).map(({ key }) => key));
  const wanted = works.filter(({ key }) => open.has(key) || again.has(key));
  return restricted(wanted, site, readSpaceFile(searchSpace));
}

/** Restricts works to written values; null for the whole space. Illegal values of a workload are printed on stderr. */
export function restricted(
  works: readonly Work[],
  site: Site,
  written: readonly WrittenKnob[] | null,
): readonly Work[] {
  const backend = backendNamed(site.target.key);
  if (written === null || backend === undefined) return works;
  const only = readUserSpace(written, backend.userKnobs);
  if (only === undefined) return works;
  const isOurs = ({ workload }: Work) => backend.tuning(workload).illegalValues !== undefined;
  for (const { key } of works.filter((work) => !isOurs(work)))
    warn(`${key} is left out: a search space restricts matmuls only`);
  return works.filter(isOurs).map((work): Work => {
    const options = { ...work.options, only };
    const illegal = backend.tuning(work.workload).illegalValues?.(options) ?? [];
    for (const line of describeIllegal(work.key, illegal)) warn(line);
    return { ...work, options };
  });
}
