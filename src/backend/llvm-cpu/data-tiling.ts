// Data tiling of single operations.
import { annotate, type Rule } from '../../spec/rules.ts';

/** The unit attribute for data tiling of an operation. */
export const DATA_TILING_HINT = 'iree.opt.data_tiling';

/**
 * Without the flag, hints have no effect. This flag of two packs in separate dispatches, as candidates are measured. The other flag fuses
 * packing into the producer of the operand, which can be ten times slower.
 */
export const DATA_TILING_FLAG = '--iree-global-opt-data-tiling';

/**
 * The compiler adds no hints of its own to a function with any hint. A hint on the function's terminator therefore keeps data tiling
 * from all other operations.
 */
export const HINT_ON_END: Rule = {
  action: annotate(DATA_TILING_HINT),
  matcher: (
    name,
  ) => `  transform.named_sequence @${name}(%op: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_param) {
    transform.match.operation_name %op ["util.return"] : !transform.any_op
    %value = transform.param.constant unit -> !transform.any_param
    transform.yield %op, %value : !transform.any_op, !transform.any_param
  }`,
};
