// Reliability of decisions: finals of the default against its own clones, and repeated tuning of the same shapes.
import { join } from 'node:path';
import { forestsWithout } from '../scripts/prior/train.ts';
import { configurationText } from '../src/backend/index.ts';
import { DEFAULT_CONFIGURATION, isDefault, type Configuration } from '../src/backend/configuration.ts';
import type { Work } from '../src/tuning/tune-workloads.ts';
import { tuneWorkloads } from '../src/tuning/tune-workloads.ts';
import { median } from '../src/measure/statistics.ts';
import type { Toolchain } from '../src/measure/toolchain.ts';
import { table } from '../src/report/table.ts';
import type { Forest } from '../src/search/forest.ts';
import { defaultStrategy } from '../src/search/index.ts';
import type { SearchSpace } from '../src/search/space.ts';
import { seededRandom } from '../src/search/strategy.ts';
import type { Surroundings } from '../src/settings/surroundings.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite.ts';
import { prepareFinals } from '../src/tuning/finals.ts';
import { finalRace, winner } from '../src/tuning/final-race.ts';
import type { Field } from '../src/tuning/bench.ts';
import {
  BenchError,
  jsonFile,
  readArguments,
  run,
  say,
  secondsOption,
  wholeNumber,
  writeJson,
} from './shared/arguments.ts';
import { readSpaces, spaceFiles, type MeasuredSpace } from './shared/measured-spaces.ts';
import { matmulSearch, surroundingsOf, type MatmulSearch } from './shared/matmul-search.ts';
import { aboutRun, HOST_FLAGS, openWorkplace } from './shared/workplace.ts';
import { needsProgram } from '../src/workload/workload.ts';

const DEFAULT_SHAPES = ['500x500x500', '127x255x511', '333x333x333', '1x4096x4096', '384x768x768'];

const USAGE = `usage: npm run bench:decisions -- [SHAPE...] [--again N] [--clones N] [--budget SECONDS] [--device DRIVER] [--wide FILE] [--json FILE]

  SHAPE     MxNxK or MxNxKxTYPE (default: ${DEFAULT_SHAPES.join(' ')})
  --again   tunings of each shape, each with an empty database and a new seed (default 10)
  --clones  finals of the default against clones of itself, over all shapes (default 50)
  --budget  seconds of each tuning (default 60)
  --device  local-sync for one thread (default), or local-task for all threads
  --wide    measured spaces (bench/spaces.ts), whose best configurations of each shape are timed beside the decided ones;
            the prior of a search is then trained without its shape
  --json    also write all values to FILE`;

/** Clones in each final: the number of finalists at small gains. */
const CLONES = 4;

/** Processes that time all decided configurations at the end, interleaved. */
const PROCESSES = 24;

/** Configurations of a measured space that are timed again, because the best measurement may be a lucky one. */
const BEST_OF_WIDE = 5;

/** Configurations within this share of the best count as equally good. */
const AS_GOOD = 0.03;

export interface Repeated {
  readonly shape: string;
  /** Default time over the time of each decision, from one long run. */
  readonly speeds: readonly number[];
  /** The same ratio in the record. */
  readonly recorded: readonly number[];
  readonly configurations: readonly string[];
  /** The same for the best configuration of the measured space; 0 without one. */
  readonly wide: number;
  /** Number of decisions that are as good as the best configuration. */
  readonly asGood: number;
}

export interface Cloned {
  readonly shape: string;
  readonly finals: number;
  /** Finals in which a clone of the default won. */
  readonly claims: number;
}

async function main(): Promise<void> {
  const args = readArguments(['again', 'clones', 'budget', 'device', 'wide', 'json'], USAGE);
  const names = args.positionals.length > 0 ? args.positionals : DEFAULT_SHAPES;
  const again = wholeNumber(args, 'again', 10, 0);
  const clones = wholeNumber(args, 'clones', 50, 0);
  const budgetSeconds = secondsOption(args, 'budget', 60);
  const json = jsonFile(args);
  const driver = args.options['device'] ?? 'local-sync';
  const wide = args.options['wide'] === undefined ? [] : readSpaces(args.options['wide']);
  const place = await openWorkplace();
  const surroundings = surroundingsOf(place, driver);
  const shapes: MatmulSearch[] = [];
  for (const name of names) shapes.push(await matmulSearch(name, place, surroundings));
  const about = aboutRun('decisions', driver, { iree: place.description });
  const options = { again, clones, budgetSeconds, flags: HOST_FLAGS };

  const cloned: Cloned[] = [];
  for (const [i, shape] of shapes.entries()) {
    const finals = Math.floor(clones / shapes.length) + (i < clones % shapes.length ? 1 : 0);
    if (finals > 0) cloned.push(await raceClones(shape, finals));
  }
  if (cloned.length > 0) console.log(`${clonesText(cloned)}\n`);

  const repeated: Repeated[] = [];
  const forests = again > 0 && wide.length > 0 ? forestsByName() : new Map<string, Forest>();
  for (const shape of again > 0 ? shapes : []) {
    const best = bestOf(wide.find(({ name }) => name === shape.name));
    const forest = forests.get(shape.name);
    repeated.push(await tuneAgain(shape, again, budgetSeconds, surroundings, best, forest));
    console.log(repeatedText(repeated.at(-1)!));
  }
  writeJson(json, { ...about, options, cloned, repeated });
}

/** Finals whose finalists are copies of the default, with other names and at other places of the code. */
async function raceClones({ name, work, toolchain }: MatmulSearch, finals: number): Promise<Cloned> {
  let claims = 0;
  for (let nth = 0; nth < finals; nth++) {
    say(`${name}: clones of the default (${nth + 1} of ${finals}) ...`);
    const prepared = await finalsOf(toolchain, work, Array(CLONES).fill(DEFAULT_CONFIGURATION));
    const raced = await finalRace(prepared, () => true);
    if (raced === null) throw new BenchError(`${name}: the default could not be timed`);
    if (winner(raced) !== null) claims++;
  }
  return { shape: name, finals, claims };
}

async function finalsOf(
  toolchain: Toolchain,
  { workload }: Work,
  configurations: readonly Configuration[],
): Promise<Field> {
  // A short expected time gives the number of repetitions for fast kernels.
  const finalists = configurations.map((configuration) => ({ configuration, ratio: 1 }));
  if (needsProgram(workload)) throw new BenchError('a whole dispatch exists only in its program');
  const entry = { finalists, defaultSeconds: 0.01, isBrief: false };
  const finals = await prepareFinals(toolchain, workload, entry);
  if (finals === null) throw new BenchError('the default cannot be measured here');
  return finals;
}

const bestOf = (space: MeasuredSpace | undefined): Configuration[] =>
  (space?.trials ?? [])
    .toSorted(([, a], [, b]) => (b ?? 0) - (a ?? 0))
    .slice(0, BEST_OF_WIDE)
    .map(([configuration]) => configuration);

/** For each measured space a forest without its shape, because the shipped prior has the very measurements that a search is compared with. */
function forestsByName(): ReadonlyMap<string, Forest> {
  say('training priors without the measured shapes ...');
  const spaces = spaceFiles().flatMap(readSpaces);
  const forests = forestsWithout(spaces);
  return new Map(spaces.map(({ name }, i) => [name, forests[i]!]));
}

/**
 * Tunes a shape several times with an empty database, then times all decided configurations in one run.
 * @param wide other configurations to time in that run
 * @param forest replaces the prior's; undefined for the shipped prior
 */
async function tuneAgain(
  shape: MatmulSearch,
  times: number,
  budgetSeconds: number,
  surroundings: Surroundings,
  wide: readonly Configuration[],
  forest: Forest | undefined,
): Promise<Repeated> {
  const { name, work, site, toolchain } = shape;
  const guided = (space: SearchSpace) =>
    space.guide === undefined || forest === undefined
      ? space
      : { ...space, guide: { ...space.guide, forest } };
  const decided: { readonly configuration: Configuration; readonly recorded: number }[] = [];
  for (let seed = 1; seed <= times; seed++) {
    say(`${name}: tuning it (${seed} of ${times}) ...`);
    const store = openSqliteStore(join(toolchain.workDirectory, `tuning${seed}.sqlite`));
    const { results, whyNot } = await tuneWorkloads([work], store, site, toolchain, surroundings, {
      budgetSeconds,
      givenSeconds: budgetSeconds,
      signal: toolchain.signal,
      strategy: (space) => defaultStrategy(guided(space), seededRandom(seed)),
    });
    store.close();
    const known = results.get(work.key);
    if (known === undefined) throw new BenchError(`${name}: ${whyNot.reason}`);
    decided.push({ configuration: known.configuration, recorded: known.evidence.ratio });
  }
  const texts = decided.map(({ configuration }) => configurationText(configuration));
  const distinct = [...decided.map(({ configuration }) => configuration), ...wide];
  const named = new Map(distinct.map((configuration) => [configurationText(configuration), configuration]));
  const speedOf = await trueSpeeds(toolchain, work, named);
  const speeds = texts.map((text) => speedOf.get(text)!);
  const best = Math.max(...speedOf.values());
  return {
    shape: name,
    speeds,
    recorded: decided.map(({ recorded }) => recorded),
    configurations: texts,
    wide: Math.max(0, ...wide.map((one) => speedOf.get(configurationText(one))!)),
    asGood: speeds.filter((speed) => speed >= (1 - AS_GOOD) * best).length,
  };
}

/** Median of default time over the configuration's time, over many processes in all strata; by configuration. */
async function trueSpeeds(
  toolchain: Toolchain,
  work: Work,
  configurations: ReadonlyMap<string, Configuration>,
): Promise<Map<string, number>> {
  const speeds = new Map([...configurations].map(([text, one]) => [text, isDefault(one) ? [1] : []]));
  const entries = [...configurations].filter(([, one]) => !isDefault(one));
  const finals = await finalsOf(
    toolchain,
    work,
    entries.map(([, configuration]) => configuration),
  );
  for (let nth = 0; nth < PROCESSES && entries.length > 0; nth++) {
    const stratum = { placement: nth % 2 === 0 ? 'apart' : 'packed', build: (nth >> 1) % 2 } as const;
    const names = finals.contestants.map((one) => one.name);
    for (const { defaultSeconds, seconds } of await finals.time(names, stratum))
      for (const one of finals.contestants) {
        const [own] = seconds.get(one.name) ?? [];
        if (own !== undefined && defaultSeconds !== null)
          speeds.get(configurationText(one.configuration))!.push(defaultSeconds[0]! / own);
      }
  }
  return new Map([...speeds].map(([text, own]) => [text, own.length === 0 ? 0 : median(own)]));
}

const clonesText = (cloned: readonly Cloned[]): string =>
  table(
    ['clones of the default', 'finals', 'false claims'],
    cloned.map(({ shape, finals, claims }) => [shape, String(finals), String(claims)]),
  );

function repeatedText({ shape, speeds, recorded, wide, asGood }: Repeated): string {
  const best = Math.max(...speeds, wide);
  const list = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(' ');
  return [
    `${shape}: ${asGood} of ${speeds.length} tunings within ${100 * AS_GOOD}% of the best`,
    `  of the best  ${list(speeds.map((speed) => speed / best))}`,
    `  to default   ${list(speeds)}`,
    `  recorded     ${list(recorded)}`,
    ...(wide > 0 ? [`  the best of the measured space  ${wide.toFixed(2)}`] : []),
  ].join('\n');
}

await run('bench:decisions', main);
