// Builds of the real compiler with other flags.
import { join } from 'node:path';
import type { Flag } from '../../compiler/arguments.ts';
import type { Build, NamedBuild } from './build.ts';

const [O3, DATA_TILING] = ['--iree-opt-level=O3', '--iree-opt-data-tiling'];

/** Flags by the names of the tables. */
const VARIANTS = {
  O3: [O3],
  'data tiling': [DATA_TILING],
  'O3, data tiling': [O3, DATA_TILING],
  im2col: ['--iree-global-opt-use-im2col-for-convs'],
} as const;

/** The name of the build without more flags. */
export const DEFAULT = 'default';

export interface Variant extends NamedBuild {
  /** Flags besides those of the default. */
  readonly flags: readonly string[];
}

/**
 * Compiles a program with the flags of each variant. A failure is a result.
 * @param given the user's flags: a variant of one of them is left out
 * @param compile compiles with more flags into a file
 * @param folder for the modules
 */
export async function buildVariants(
  given: readonly Pick<Flag, 'name'>[],
  compile: (flags: readonly string[], module: string) => Promise<Build>,
  folder: string,
  onBegin: (name: string) => void = () => undefined,
): Promise<Variant[]> {
  const isGiven = (flag: string) => given.some(({ name }) => flag.split('=')[0] === `--${name}`);
  const variants: Variant[] = [];
  for (const [name, flags] of Object.entries(VARIANTS)) {
    if (flags.some(isGiven)) continue;
    onBegin(name);
    const module = join(folder, `${name}.vmfb`);
    variants.push({ name, flags, module, ...(await compile(flags, module)) });
  }
  return variants;
}
