// Which operations of the compiler's dumps a configuration of a GPU is on.
import { matchKey, type MatchedForm } from '../../workload/workload.ts';
import type { ConfiguredOperation } from '../dumps.ts';
import type { GpuConfiguration } from './configuration.ts';
import { loweringConfig } from './render.ts';

/** The operations that are of this form and have the configuration; none where it has not landed. */
export function landedOn(
  configured: readonly ConfiguredOperation[],
  form: MatchedForm,
  configuration: GpuConfiguration,
  loops: readonly number[],
): readonly ConfiguredOperation[] {
  const lowering = loweringConfig(configuration, loops);
  const key = matchKey(form);
  return configured.filter((one) => one.key === key && one.lowering === lowering);
}
