// Tiles of an attention in the text of its configured executable.
import { readConfigured } from '../../workload/dispatch/configured.ts';
import type { DispatchWork } from '../../workload/dispatch/dispatch-work.ts';
import { isShapedLike } from '../../workload/dispatch/from-configured.ts';
import type { OwnConfiguration } from '../configuration.ts';
import { threadsOf } from './configuration.ts';

/** The text of a configured executable with these tiles; null for another dispatch. */
export function reconfigured(
  text: string,
  workload: DispatchWork,
  configuration: OwnConfiguration,
): string | null {
  if (configuration.kind !== 'attention-tile') return null;
  const found = readConfigured(text);
  if (found === null || !isShapedLike(found, workload)) return null;
  const { workgroup, reduction, subgroups, subgroupSize } = configuration;
  const list = (numbers: readonly number[]) => `[${numbers.join(', ')}]`;
  const { start, end } = found.parts[found.root]!;
  const before = text
    .slice(0, start)
    .replace(
      /workgroup_size = \[[\d, ]*\] subgroup_size = \d+/,
      `workgroup_size = [${threadsOf(configuration)}, 1, 1] subgroup_size = ${subgroupSize}`,
    )
    // Both products share the work in the same way.
    .replaceAll(/(?<=subgroup_basis = \[)\[[\d, ]*\]/g, list(subgroups));
  const own = text
    .slice(start, end)
    .replace(/\breduction = \[[\d, ]*\]/, `reduction = ${list(reduction)}`)
    .replace(/\bworkgroup = \[[\d, ]*\]/, `workgroup = ${list(workgroup)}`);
  return before + own + text.slice(end);
}
