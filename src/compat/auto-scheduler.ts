// Reads `auto-scheduler.cfg`, the settings file of IREE's auto-scheduler. Pure. By hand, because errors name the line.
import type { WrittenKnob } from '../backend/user-space.ts';
import { UserError } from '../system/user-error.ts';

export interface AutoScheduler {
  /** Folder of the compiler's tools; null to search for them. */
  readonly tools: string | null;
  readonly input: string;
  /** Path of the CSV; null for none. */
  readonly output: string | null;
  /** Values of `[SearchSpace]` by the file's keys. */
  readonly space: readonly WrittenKnob[];
  readonly tuner: string;
  readonly strategy: string;
  readonly trials: number;
}

/** The knobs of backends for its keys. Threads along x compute columns of the result, threads along y rows. */
const KNOBS: Readonly<Record<string, readonly string[]>> = {
  tile_m: ['distribution_m', 'workgroup_m'],
  tile_n: ['distribution_n', 'workgroup_n'],
  tile_k: ['cache_k', 'summed_k'],
  block_dim_x: ['threads_n'],
  block_dim_y: ['threads_m'],
  pipeline_depth: ['prefetch'],
};

/** Threads of a workgroup; the last dimension takes 1 only. */
const BLOCK = ['block_dim_x', 'block_dim_y', 'block_dim_z'] as const;
const MOST_THREADS = 1024;

/** Our strategies for its tuners. */
export const TUNERS: Readonly<Record<string, string>> = {
  XGBoostTuner: 'xgb',
  XGBTuner: 'xgb',
  GATuner: 'ga',
  GridSearchTuner: 'grid',
  RandomTuner: 'random',
};

interface Entry {
  readonly value: string;
  /** `file:line` */
  readonly where: string;
}

/** Keys by section. Null: any key, because the space also accepts our knobs, and validates them later. */
const KEYS: Readonly<Record<Section, readonly string[] | null>> = {
  Env: ['iree_bin', 'input_file', 'output_file'],
  SearchSpace: null,
  SearchStrategy: ['tuner', 'n_trial'],
};

type Section = 'Env' | 'SearchSpace' | 'SearchStrategy';

/**
 * Parses the file. The last of repeated keys wins. Other keys of `[SearchSpace]` are knobs of a backend.
 * @param file name for messages
 * @throws UserError with file and line
 */
export function readAutoScheduler(text: string, file: string): AutoScheduler {
  const { Env: env, SearchSpace: space, SearchStrategy: strategy } = sectionsOf(text, file);
  const input = env.get('input_file');
  if (input === undefined) throw new UserError(`${file}: [Env] has no input_file`);
  const tuner = strategy.get('tuner') ?? { value: 'XGBoostTuner', where: file };
  const ours = Object.hasOwn(TUNERS, tuner.value) ? TUNERS[tuner.value]! : null;
  if (ours === null)
    throw new UserError(
      `${tuner.where}: there is no tuner "${tuner.value}": use ${Object.keys(TUNERS).join(', ')}`,
    );
  const trials = strategy.get('n_trial') ?? { value: '16', where: file };
  if (!/^[1-9]\d{0,6}$/.test(trials.value))
    throw new UserError(`${trials.where}: n_trial is "${trials.value}": it takes a whole number from 1`);
  const knobs = [...space].map(([name, entry]) => ({
    ...{ name, values: listOf(name, entry), where: entry.where },
  }));
  checkBlock(knobs);
  return {
    tools: env.get('iree_bin')?.value ?? null,
    input: input.value,
    output: env.get('output_file')?.value ?? null,
    space: knobs,
    tuner: tuner.value,
    strategy: ours,
    trials: Number(trials.value),
  };
}

/** @throws UserError for a value with too many threads, with every value of the other dimensions */
function checkBlock(knobs: readonly WrittenKnob[]): void {
  const block = BLOCK.flatMap((name) => knobs.find((one) => one.name === name) ?? []);
  const depth = block.find(({ name }) => name === 'block_dim_z');
  if (depth?.values.some((value) => value !== 1) === true)
    throw new UserError(`${depth.where}: block_dim_z is ${depth.values.join(', ')}: the only value is 1`);
  const least = (some: readonly WrittenKnob[]) =>
    some.reduce((all, { values }) => all * Math.min(...values.map(Number)), 1);
  for (const knob of block) {
    const others = least(block.filter((one) => one !== knob));
    const tooMany = knob.values.find((value) => Number(value) * others > MOST_THREADS);
    if (tooMany !== undefined)
      throw new UserError(
        `${knob.where}: ${knob.name} = ${tooMany} gives at least ${Number(tooMany) * others} threads: ` +
          `block_dim_x * block_dim_y * block_dim_z is at most ${MOST_THREADS}`,
      );
  }
}

/**
 * The file's values by the knobs of a backend.
 * @param known names of the backend's knobs
 * @returns also the keys without effect on the backend
 * @throws UserError for a key that is neither the file's nor a knob
 */
export function knobsFor(
  { space }: Pick<AutoScheduler, 'space'>,
  known: readonly string[],
): { readonly knobs: readonly WrittenKnob[]; readonly unused: readonly string[] } {
  const keys = [...Object.keys(KNOBS), 'block_dim_z'];
  const unknown = space.find(({ name }) => !keys.includes(name) && !known.includes(name));
  if (unknown !== undefined)
    throw new UserError(
      `${unknown.where}: [SearchSpace] has no ${unknown.name}: its keys are ${[...keys, ...known].join(', ')}`,
    );
  const isUnused = (key: string) =>
    key === 'block_dim_z' || KNOBS[key]?.some((name) => known.includes(name)) === false;
  const knobs = space
    .filter(({ name }) => !isUnused(name))
    .map((one) => ({ ...one, name: KNOBS[one.name]?.find((name) => known.includes(name)) ?? one.name }));
  // Its space has tiles only. Data tiling needs an explicit key.
  const isAboutTiles = knobs.length > 0 && !knobs.some(({ name }) => name === 'data_tiling');
  const plain = { name: 'data_tiling', values: [false], where: 'data_tiling' };
  return {
    knobs: isAboutTiles && known.includes(plain.name) ? [...knobs, plain] : knobs,
    unused: space.map(({ name }) => name).filter((name) => isUnused(name) && name !== 'block_dim_z'),
  };
}

/** Keys in lower case and values, by section. */
function sectionsOf(text: string, file: string): Record<Section, Map<string, Entry>> {
  const sections = { Env: new Map(), SearchSpace: new Map(), SearchStrategy: new Map() };
  let current: Section | null = null;
  for (const [i, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const where = `${file}:${i + 1}`;
    const bare = line.trim();
    if (bare === '' || /^[#;]/.test(bare)) continue;
    const section = /^\[(.*)\]$/.exec(bare)?.[1];
    if (section !== undefined && !/[=:]/.test(line.slice(0, line.indexOf('[')))) {
      if (!Object.hasOwn(KEYS, section))
        throw new UserError(
          `${where}: there is no section [${section}]: use ${Object.keys(KEYS).join(', ')}`,
        );
      current = section as Section;
      continue;
    }
    const [, key, value] = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(bare) ?? [];
    if (key === undefined || value === undefined)
      throw new UserError(`${where}: "${bare}" is not KEY = VALUE`);
    if (current === null)
      throw new UserError(`${where}: ${key} comes before the first section, such as [Env]`);
    const name = key.toLowerCase();
    const keys = KEYS[current];
    if (keys?.includes(name) === false)
      throw new UserError(`${where}: [${current}] has no ${key}: its keys are ${keys.join(', ')}`);
    sections[current].set(name, { value, where });
  }
  return sections;
}

/** Parses a list such as `[64, 128]` or `[true]`, or a single value. */
function listOf(key: string, { value, where }: Entry): (number | boolean)[] {
  const inner = /^\[(.*)\]$/.exec(value)?.[1] ?? value;
  return inner
    .split(',')
    .map((word) => word.trim())
    .filter((word, i, all) => word !== '' || i < all.length - 1)
    .map((word) => {
      if (/^(true|false)$/i.test(word)) return word.toLowerCase() === 'true';
      if (!/^\d{1,9}$/.test(word))
        throw new UserError(`${where}: ${key}: "${word}" is not a number: write a list such as [64, 128]`);
      return Number(word);
    });
}
