// Options of the search space of a workload in one program.
import type { Hardware, SpaceOptions } from '../backend/backend.ts';
import { backendNamed } from '../backend/index.ts';
import { isBefore } from '../compiler/release.ts';
import { tunables, type Input, type Reading } from '../input/input.ts';
import type { Settings } from '../settings/index.ts';
import { mayPreprocess } from '../settings/settings.ts';
import type { Site } from '../site/site.ts';

const NOTHING_KNOWN: Hardware = { nativeVectorBytes: 0, vectorRegisters: 0, threads: 1 };

/**
 * Options of each workload's space.
 *
 * A space has configurations that change the whole program if the command has neither data tiling nor a preprocessing spec, and if
 * all operations of the workload are written in the input: the compiler's own operations come too late for a preprocessing spec.
 */
export function spaceOptionsOf(
  input: Pick<Input, 'operations'> & {
    readonly reading: Pick<Reading, 'dataTiling' | 'ownPreprocessing' | 'ownPipeline'>;
  },
  { compiler: { release }, target, device }: Site,
  { inject }: Pick<Settings, 'inject'>,
): (workload: { readonly key: string }) => SpaceOptions {
  const { dataTiling, ownPreprocessing, ownPipeline } = input.reading;
  const backend = backendNamed(target.key);
  const canAsk =
    mayPreprocess(inject) &&
    !dataTiling &&
    !ownPreprocessing &&
    backend?.wholeProgram !== undefined &&
    !isBefore(release, 3, 11);
  const generated = new Set(tunables(input).flatMap(({ key, written }) => (written === null ? [key] : [])));
  const hardware = backend?.devices.hardwareOf(target.target, device) ?? NOTHING_KNOWN;
  return ({ key }) => ({
    ...hardware,
    wholeProgram: canAsk && !generated.has(key),
    // By a tuning spec: see `tuningSpecFlags` about pipelines.
    following: !ownPipeline && !isBefore(release, 3, 12),
  });
}
