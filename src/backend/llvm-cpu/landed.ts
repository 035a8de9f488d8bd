// Operations of the compiler's dumps with a configuration of llvm-cpu.
import { type OperationWork, type MatchedForm } from '../../workload/workload.ts';
import { shapeOf, type ConfiguredOperation } from '../dumps.ts';
import type { DataTileConfiguration, LlvmCpuConfiguration } from './configuration.ts';
import { landedWith } from '../rendered.ts';
import { packedOperations } from './packed-rules.ts';
import { loweringConfig, packedParts } from './render.ts';

/**
 * The operations of this form with the configuration; none if the configuration has not landed.
 * @param loops order of the tiles in the directive
 * @param expected keys of the forms of all operations of the input
 */
export function landedOn(
  configured: readonly ConfiguredOperation[],
  form: MatchedForm,
  configuration: LlvmCpuConfiguration,
  loops: readonly number[],
  expected: ReadonlySet<string>,
): readonly ConfiguredOperation[] {
  if (configuration.kind === 'dispatch-tile') return [];
  if (configuration.kind === 'data-tile') return packedOnes(configured, form.workload, configuration);
  return landedWith(configured, form, loops, expected, { lowering: loweringConfig(configuration, loops) });
}

/** The packed operation of a workload, if the tiles are on the packed operation and on a packing. */
function packedOnes(
  configured: readonly ConfiguredOperation[],
  workload: OperationWork,
  { packed }: DataTileConfiguration,
): readonly ConfiguredOperation[] {
  const own = configured.filter((operation) => packs(operation, workload));
  if (own.length === 0 || packed === undefined) return own;
  const landed = packedOperations({ workload, packed }).filter(
    ({ operation, types, rendered: { lowering } }) =>
      configured.some(
        (one) =>
          one.name === operation &&
          types.every((type, i) => one.types[i] === type) &&
          one.lowering === lowering,
      ),
  );
  // The compiler packs a constant itself, so one packing is enough.
  const names = new Set(landed.map(({ operation }) => operation));
  return names.size === Object.keys(packedParts(packed)).length ? own : [];
}

/** Whether an operation is the packed form of a workload: large enough, with less than a tile of padding on each side. */
function packs({ name, types }: ConfiguredOperation, { dimensions }: OperationWork): boolean {
  if (name !== 'linalg.mmt4d' && name !== 'linalg.batch_mmt4d') return false;
  const [lhs, rhs] = types.map((type) => shapeOf(type).slice(-4));
  if (lhs?.length !== 4 || rhs?.length !== 4) return false;
  /** Whether a side has the dimension as tiles, and the size of a tile two dimensions further. */
  const fits = (kind: 'm' | 'n' | 'k', side: readonly number[], at = 0) => {
    const [outer, inner] = [side[at]!, side[at + 2]!];
    const { size, sizes } = dimensions.find((dimension) => dimension.kind === kind) ?? { size: 1 };
    return sizes === undefined ? outer === Math.ceil(size / inner) : outer < 0;
  };
  // The compiler swaps the sides if that uses vectors better.
  const areRows = (first: readonly number[], second: readonly number[]) =>
    fits('m', first) && fits('n', second);
  return fits('k', lhs, 1) && (areRows(lhs, rhs) || areRows(rhs, lhs));
}
