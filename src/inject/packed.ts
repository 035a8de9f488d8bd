// A tuning spec for what data tiling makes: packed operations and the packing of their operands, told by their types.
import type { PackedTiles } from '../space/configuration.ts';
import { packedShapes } from '../space/packed.ts';
import { packedInfo } from '../space/render.ts';
import type { Workload } from '../workload/workload.ts';
import type { Rule } from './matcher.ts';
import { specModule } from './spec.ts';

/** What data-tiled operations get once they are packed. */
export interface PackedEntry {
  readonly workload: Workload;
  readonly packed: PackedTiles;
}

/**
 * Text of a spec for packed operations, which the hint of a preprocessing spec has made. Needs IREE 3.12.
 * Of entries for the same form the first holds.
 */
export function packedSpec(entries: readonly PackedEntry[]): string {
  const rules = new Map<string, Rule>();
  for (const entry of entries)
    for (const { form, value } of packedForms(entry)) {
      const key = JSON.stringify(form);
      const matcher = (name: string) => packedMatcher(form, name, value);
      if (!rules.has(key)) rules.set(key, { attribute: 'compilation_info', matcher });
    }
  return specModule([...rules.values()]);
}

interface OperandTypes {
  readonly operation: string;
  /** Types of its first two operands. */
  readonly types: readonly [string, string];
}

/** The packed operation and the two packings of its operands, those of them that are tiled, with what they get. */
function packedForms({ workload, packed }: PackedEntry): { form: OperandTypes; value: string }[] {
  const shapes = packedShapes(workload, packed);
  if (shapes === null) return [];
  const { multiply, pack } = packedInfo(packed);
  const sides = packed.swapped ? [workload.rhs, workload.lhs] : [workload.lhs, workload.rhs];
  const types = sides.map(({ elementType }, i) => `tensor<${shapes[i]!.join('x')}x${elementType}>`);
  const forms: { form: OperandTypes; value: string }[] = [];
  if (multiply !== null)
    forms.push({ form: { operation: 'linalg.mmt4d', types: [types[0]!, types[1]!] }, value: multiply });
  if (pack !== null)
    for (const [i, { dimensions, elementType }] of sides.entries()) {
      const sizes = dimensions.map((d) => `${workload.dimensions[d]!.size}x`).join('');
      const source = `tensor<${sizes}${elementType}>`;
      forms.push({ form: { operation: 'linalg.pack', types: [source, types[i]!] }, value: pack });
    }
  return forms;
}

const packedMatcher = (
  { operation, types }: OperandTypes,
  name: string,
  value: string,
) => `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %op ["${operation}"] : !transform.any_op
    transform.iree.match.has_no_lowering_config %op : !transform.any_op
    %first = transform.get_operand %op[0] : (!transform.any_op) -> !transform.any_value
    %second = transform.get_operand %op[1] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.cast_compatible_type %first = ${types[0]} : !transform.any_value
    transform.iree.match.cast_compatible_type %second = ${types[1]} : !transform.any_value
    %value = transform.param.constant ${value} -> !transform.any_param
    transform.yield %op, %value : !transform.any_op, !transform.any_param
  }`;
