// Which operations of the compiler's dumps a configuration of a GPU is on.
import { matchKey, type MatchedForm } from '../../workload/workload.ts';
import type { ConfiguredOperation } from '../dumps.ts';
import type { GpuConfiguration } from './configuration.ts';
import { loweringConfig, translationInfo } from './render.ts';

/**
 * The operations of the dumps that are of this form and have the configuration; none where it has not landed.
 * @param loops in which the directive was rendered
 * @param expected keys of the forms that all operations of the input have
 */
export function landedOn(
  configured: readonly ConfiguredOperation[],
  form: MatchedForm,
  configuration: GpuConfiguration,
  loops: readonly number[],
  expected: ReadonlySet<string>,
): readonly ConfiguredOperation[] {
  const lowering = loweringConfig(configuration, loops);
  const translation = translationInfo(configuration);
  const has = (one: ConfiguredOperation) => one.lowering === lowering && one.translation === translation;
  const own = configured.filter(({ key }) => key === matchKey(form));
  if (own.length > 0) return own.filter(has);
  // The compiler made something else of it, by a fusion say, or it moves a filter: then what runs over the same loops, and
  // is not what another operation became.
  const { dimensions } = form.workload;
  return configured.filter(
    (one) =>
      has(one) &&
      !(one.key !== null && expected.has(one.key)) &&
      one.loops.length === loops.length &&
      one.loops.every(({ size, isReduced }, loop) => {
        const dimension = dimensions[loops[loop]!]!;
        return isReduced === (dimension.kind === 'k') && size === dimension.size;
      }),
  );
}
