// Measurements of a profile, and their files.
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isDefault } from '../backend/configuration.ts';
import { backendNamed, configurationKey } from '../backend/index.ts';
import { candidatePath, candidateText } from '../profile/candidate-file.ts';
import { measurementsOf, type Decided, type Measurement, type Measurements } from '../profile/measurement.ts';
import { operationsOf, type ProfiledOperation } from '../profile/operation.ts';
import { csvHeader, csvRow, type Tags } from '../profile/report.ts';
import { runLog, type RunSummary } from '../profile/run-log.ts';
import { moduleWithFillers } from '../measure/candidate-module.ts';
import { moduleAt } from '../measure/common-modules.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { makeFolder } from '../system/folder.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { Semaphore } from '../system/semaphore.ts';
import { candidatePhase, isOperationWork, type OperationWork } from '../workload/workload.ts';
import { spaceSize } from '../search/space.ts';
import type { Site } from '../site/site.ts';
import { chooseRecord } from '../store/choose.ts';
import type { Store, Trial } from '../store/store.ts';
import { placeOf, subjectOf } from '../store/subject.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { UserError } from '../system/user-error.ts';
import { UsageError } from './context.ts';

/** One workload of a profile, with its decision and its trials in the database. */
export interface Profiled {
  readonly key: string;
  readonly operation: ProfiledOperation;
  /** The decision of builds; null without a record. */
  readonly decided: Decided | null;
  /** Oldest first. */
  readonly trials: readonly Trial[];
  readonly measurements: Measurements;
}

/**
 * The workloads of a profile, from the database.
 * @param slices of split reductions, a flag of the compiler; null for none
 * @param earlier number of trials to leave out, by the key of the workload
 */
export function profiled(
  works: readonly Work[],
  store: Store,
  site: Site,
  slices: number | null,
  earlier: ReadonlyMap<string, number> = new Map(),
): Profiled[] {
  const place = placeOf(site);
  const operations = operationsOf(
    works.map(({ workload }) => workload),
    slices,
  );
  return works.map((work, i) => {
    const { key, workload } = work;
    const trials = store.trials(subjectOf(work, site)).slice(earlier.get(key) ?? 0);
    const known = chooseRecord(store.findRecords([key], place.target, place.compiler), place.device, true);
    // The decision is left out if this run has not tried its configuration.
    const isOf = ({ configuration }: Trial) =>
      known !== null && configurationKey(configuration) === configurationKey(known.configuration);
    const decided = earlier.has(key) && !trials.some(isOf) ? null : known;
    const operation = operations[i]!;
    const measurements = measurementsOf({ operation, workload, place }, decided, trials);
    return { key, operation, decided, trials, measurements };
  });
}

/** Points of the search spaces, illegal ones included. */
export const spaceSizes = (works: readonly Work[], site: Site): number[] =>
  works.map(({ workload, options }) => {
    const space = backendNamed(site.target.key)?.spaceOf(workload, options);
    return space === undefined ? 0 : spaceSize(space);
  });

/** Number of timed candidates, without the default. */
export const timedCandidates = (all: readonly Measurement[]): number =>
  all.filter(({ configuration, seconds }) => seconds !== null && !isDefault(configuration)).length;

/**
 * Reads tags such as `name:value,name:value`.
 * @throws UsageError
 */
export const tagsOf = (text: string | undefined): Tags =>
  (text ?? '')
    .split(',')
    .filter((tag) => tag !== '')
    .map((tag) => {
      const [, name, value] = /^([^:]+):(.*)$/s.exec(tag) ?? [];
      if (name === undefined || value === undefined)
        throw new UsageError(`--tags ${tag}: it takes NAME:VALUE`);
      return [name, value];
    });

/**
 * Writes the CSV, or appends to it.
 * @throws UserError where the existing CSV has other columns
 */
export function writeCsv(path: string, all: readonly Measurement[], tags: Tags, append: boolean): void {
  const header = csvHeader(tags);
  const rows = all.map((one) => csvRow(one, tags)).join('');
  if (!append || !existsSync(path) || firstBytes(path, 1) === '') {
    writeFileSync(path, header + rows);
    return;
  }
  if (firstBytes(path, Buffer.byteLength(header)) !== header)
    throw new UserError(`${path} has other columns: append to another file`);
  appendFileSync(path, `${readFileSync(path).at(-1) === 0x0a ? '' : '\r\n'}${rows}`);
}

function firstBytes(path: string, length: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}

/** Appends to `run.log` beside a CSV. */
export function writeRunLog(csv: string, summary: RunSummary): void {
  appendFileSync(join(dirname(csv), 'run.log'), runLog(summary));
}

/** Writes every candidate as MLIR into a folder, and a CSV of the results. */
export async function keepCandidates(
  folder: string,
  all: readonly Measurement[],
  site: Site,
  { cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>,
): Promise<void> {
  makeFolder(folder);
  const workDirectory = makeScratchFolder(cacheDirectory, 'candidates');
  if (workDirectory === null) throw new UserError(`the cache folder ${cacheDirectory} cannot be written`);
  try {
    const rows: string[] = [];
    for (const one of all) {
      const { workload } = one;
      // A dispatch exists in its program only.
      const text = isOperationWork(workload) ? await textOf({ ...one, workload }, site, workDirectory) : null;
      const name = candidatePath(one);
      if (text !== null) {
        makeFolder(dirname(join(folder, name)));
        writeFileSync(join(folder, name), text);
      }
      rows.push(csvRow(one, [], [text === null ? null : name, one.message]));
    }
    writeFileSync(join(folder, 'candidates.csv'), csvHeader([], ['File', 'Message']) + rows.join(''));
  } finally {
    rmSync(workDirectory, { recursive: true, force: true });
  }
}

/** A candidate as MLIR; null where the compiler fails before the phase of the candidate. */
async function textOf(
  candidate: Measurement & { readonly workload: OperationWork },
  site: Site,
  workDirectory: string,
): Promise<string | null> {
  const around = await textAround(candidate.workload, site, workDirectory);
  return around === undefined ? null : candidateText(candidate, site, around);
}

/** The module that a candidate is added to, in the phase of the candidate; undefined where the compiler fails before that phase. */
async function textAround(
  workload: OperationWork,
  { executable, flags }: Site,
  workDirectory: string,
): Promise<string | undefined> {
  const phase = candidatePhase(workload);
  if (phase === null) return moduleWithFillers(workload);
  const signal = new AbortController().signal;
  const compiles = new Semaphore(1);
  const folders = { commonDirectory: workDirectory, workDirectory };
  const toolchain = { compiler: executable, compiles, flags, ...folders, signal };
  return (await moduleAt(phase, toolchain, moduleWithFillers(workload))) ?? undefined;
}
