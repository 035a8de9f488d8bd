// Options of the search space of a workload in one program.
import type { SpaceOptions } from '../backend/backend.ts';
import { isBefore } from '../compiler/release.ts';
import { tunables, type Input } from '../input/input.ts';
import type { Settings } from '../settings/index.ts';
import { mayPreprocess } from '../settings/settings.ts';
import type { Site } from '../site/site.ts';
import { targetArchitecture, type Target } from '../site/target.ts';

/**
 * Options of each workload's space.
 *
 * Configurations may need something of the whole program where the user has not decided about it, nothing is in our way,
 * and all operations of the workload are there to be asked before the compiler optimises.
 */
export function spaceOptionsOf(
  input: Pick<Input, 'reading' | 'operations'>,
  { compiler: { release }, target, device }: Site,
  { inject }: Pick<Settings, 'inject'>,
): (workload: { readonly key: string }) => SpaceOptions {
  const { dataTiling, ownPreprocessing, ownPipeline } = input.reading;
  const canAsk =
    mayPreprocess(inject) &&
    !dataTiling &&
    !ownPreprocessing &&
    target.target.backend === 'llvm-cpu' &&
    !isBefore(release, 3, 11);
  const made = new Set(tunables(input).flatMap(({ key, written }) => (written === null ? [key] : [])));
  const nativeVectorBytes = target.target.nativeVectorBytes || 16;
  return ({ key }) => ({
    nativeVectorBytes,
    vectorRegisters: vectorRegistersOf(target.target, nativeVectorBytes),
    threads: device.threads,
    wholeProgram: canAsk && !made.has(key),
    // By a tuning spec: see `tuningSpecFlags` about pipelines.
    following: !ownPipeline && !isBefore(release, 3, 12),
  });
}

/** x86-64 has 16 vector registers without AVX-512, and 32 with it. Others, such as AArch64, have 32. */
const vectorRegistersOf = (target: Target, vectorBytes: number): number =>
  targetArchitecture(target) === 'x64' && vectorBytes < 64 ? 16 : 32;
