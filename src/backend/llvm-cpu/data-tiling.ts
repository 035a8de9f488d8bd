// Asking for data tiling operation by operation.
import { annotate, type Rule } from '../../spec/rules.ts';

/** The unit attribute that asks for an operation to be data-tiled. */
export const DATA_TILING_HINT = 'iree.opt.data_tiling';

/**
 * Without the flag, hints do nothing. Of the compiler's two ways this one packs in dispatches of their own, which is
 * how candidates are measured; the other one fuses packing into whatever makes the operand, which can be ten times slower.
 */
export const DATA_TILING_FLAG = '--iree-global-opt-data-tiling';

/**
 * As soon as anything in a function has the hint, the compiler adds none of its own there. On the function's end it
 * asks for nothing, and leaves the code as it is without data tiling.
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
