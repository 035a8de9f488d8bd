// Reads `auto-scheduler.cfg`, the settings file of IREE's auto-scheduler. Pure. By hand, because errors name the line.
import type { WrittenKnob } from '../backend/user-space.ts';
import { UserError } from '../system/user-error.ts';

export interface AutoScheduler {
  /** Folder of the compiler's tools; null to search for them. */
  readonly tools: string | null;
  readonly input: string;
  /** Path of the CSV; null for none. */
  readonly output: string | null;
  /** Allowed values of our knobs. */
  readonly space: readonly WrittenKnob[];
  /** Keys for GPUs only, as spelled in the file. */
  readonly gpuOnly: readonly string[];
  readonly tuner: string;
  readonly strategy: string;
  readonly trials: number;
}

/** Our knobs for its keys: the tile of a workgroup, and the reduction tile. */
const KNOBS: Readonly<Record<string, string>> = {
  tile_m: 'distribution_m',
  tile_n: 'distribution_n',
  tile_k: 'cache_k',
};

const GPU_ONLY = ['block_dim_x', 'block_dim_y', 'block_dim_z', 'pipeline_depth'];

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

const SECTIONS: Readonly<Record<string, (key: string) => boolean>> = {
  Env: (key) => ['iree_bin', 'input_file', 'output_file'].includes(key),
  // Any key, because the space also accepts our knobs, and validates them later.
  SearchSpace: () => true,
  SearchStrategy: (key) => ['tuner', 'n_trial'].includes(key),
};

/**
 * Parses the file. The last of repeated keys wins. Other keys of `[SearchSpace]` are our knobs.
 * @param file name for messages
 * @throws UserError with file and line
 */
export function readAutoScheduler(text: string, file: string): AutoScheduler {
  const sections = sectionsOf(text, file);
  const [env, space, strategy] = ['Env', 'SearchSpace', 'SearchStrategy'].map(
    (name) => sections.get(name) ?? new Map<string, Entry>(),
  ) as [Map<string, Entry>, Map<string, Entry>, Map<string, Entry>];
  const input = env.get('input_file');
  if (input === undefined) throw new UserError(`${file}: [Env] has no input_file`);
  const tuner = strategy.get('tuner') ?? { value: 'XGBoostTuner', where: file };
  const ours = Object.hasOwn(TUNERS, tuner.value) ? TUNERS[tuner.value]! : null;
  if (ours === null)
    throw new UserError(
      `${tuner.where}: tuner "${tuner.value}" is none of ${Object.keys(TUNERS).join(', ')}`,
    );
  const trials = strategy.get('n_trial') ?? { value: '16', where: file };
  if (!/^[1-9]\d{0,6}$/.test(trials.value))
    throw new UserError(`${trials.where}: n_trial "${trials.value}" is no whole number from 1 up`);
  const depth = space.get('block_dim_z');
  if (depth !== undefined && listOf('block_dim_z', depth).some((value) => value !== 1))
    throw new UserError(`${depth.where}: block_dim_z has to be [1]`);
  const knobs = [...space].flatMap(([key, entry]): WrittenKnob[] => {
    const values = listOf(key, entry);
    return GPU_ONLY.includes(key) ? [] : [{ name: KNOBS[key] ?? key, values, where: entry.where }];
  });
  // Its space has tiles only. Data tiling needs an explicit key.
  const isAboutTiles = knobs.length > 0 && !knobs.some(({ name }) => name === 'data_tiling');
  return {
    tools: env.get('iree_bin')?.value ?? null,
    input: input.value,
    output: env.get('output_file')?.value ?? null,
    space: isAboutTiles ? [...knobs, { name: 'data_tiling', values: [false], where: file }] : knobs,
    gpuOnly: [...space.keys()].filter((key) => GPU_ONLY.includes(key)),
    tuner: tuner.value,
    strategy: ours,
    trials: Number(trials.value),
  };
}

/** Keys in lower case and values, by section. */
function sectionsOf(text: string, file: string): Map<string, Map<string, Entry>> {
  const sections = new Map<string, Map<string, Entry>>();
  let current: string | null = null;
  for (const [i, line] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const where = `${file}:${i + 1}`;
    const bare = line.trim();
    if (bare === '' || /^[#;]/.test(bare)) continue;
    const section = /^\[(.*)\]$/.exec(bare)?.[1];
    if (section !== undefined && !/[=:]/.test(line.slice(0, line.indexOf('[')))) {
      if (!Object.hasOwn(SECTIONS, section))
        throw new UserError(
          `${where}: there is no section [${section}]; there are ${Object.keys(SECTIONS).join(', ')}`,
        );
      current = section;
      if (!sections.has(section)) sections.set(section, new Map());
      continue;
    }
    const [, key, value] = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(bare) ?? [];
    if (key === undefined || value === undefined)
      throw new UserError(`${where}: "${bare}" is no KEY = VALUE`);
    if (current === null) throw new UserError(`${where}: ${key} stands in no section`);
    const name = key.toLowerCase();
    if (!SECTIONS[current]!(name)) throw new UserError(`${where}: [${current}] has no ${key}`);
    sections.get(current)!.set(name, { value, where });
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
        throw new UserError(`${where}: ${key}: "${word}" is no number; a list such as [64, 128] is wanted`);
      return Number(word);
    });
}
