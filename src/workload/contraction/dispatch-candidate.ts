// Text of a module of candidates that are a dispatch of a program: one copy of the dispatch for each candidate. Calls rotate
// through as many buffers as pass by in the program, so weights come from memory as they do there.
import { parse } from 'mlir-parser-ts';
import type { CandidateFunction } from '../kind.ts';
import type { Contraction } from './contraction.ts';
import { isFloat } from '../element-type.ts';
import { anyLines, FACTORS, fillerOf, fillLines, type Filler } from '../fillers.ts';
import { guardedReturn, guardedSignature, plainName } from '../guarded.ts';
import { elementsOf, tensorText } from '../tensor.ts';
import { writesPart, type Dispatch, type DispatchArgument } from './dispatch.ts';
import { rootFormOf } from './from-operation.ts';
import { exactBits } from './operands.ts';
import { rewrittenRoot } from './strides.ts';

const inputsOf = ({ arguments: all, results = 1 }: Dispatch): readonly DispatchArgument[] =>
  all.slice(0, -results);

/** The fillers of the dispatch's inputs. */
export const dispatchFillers = (dispatch: Dispatch): Filler[] =>
  inputsOf(dispatch).map(({ elementType, shape }) => fillerOf(elementType, elementsOf(shape)));

/**
 * Buffers for all inputs, filled when the module is loaded. Each buffer has its own allocation, like weights. Verification
 * reads the first buffer of each input.
 */
export function dispatchOperandsText(workload: Contraction, dispatch: Dispatch): string {
  const inputs = inputsOf(dispatch);
  const declarations = inputs.map(
    (input, i) => `util.global private mutable @operand${i} : ${globalType(input)}`,
  );
  const fills = inputs.map(({ shape, elementType, buffers }, i) => {
    const filled = fillLines({
      name: `value${i}`,
      shape,
      elementType,
      seed: 1 + i,
      exactBits: exactBits(workload, elementType),
      factor: i % 2 === 0 ? FACTORS.lhs : FACTORS.rhs,
    });
    if (buffers === 1)
      return `${filled}
  util.global.store %value${i}_view, @operand${i} : !hal.buffer_view`;
    return `${filled}
  %count${i} = arith.constant ${buffers} : index
  %list${i} = util.list.create %count${i} : !util.list<?>
  util.list.resize %list${i}, %count${i} : !util.list<?>
  util.list.set %list${i}[%zero], %value${i}_view : !hal.buffer_view -> !util.list<?>
  scf.for %n${i} = %one to %count${i} step %one {
${anyLines({ name: `other${i}`, shape, elementType }, `%n${i}`)}
    util.list.set %list${i}[%n${i}], %other${i}_view : !hal.buffer_view -> !util.list<?>
  }
  util.global.store %list${i}, @operand${i} : !util.list<?>`;
  });
  return `util.global private mutable @next = 0 : index
${declarations.join('\n')}
util.initializer {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
${fills.join('\n')}
  util.return
}`;
}

const globalType = ({ buffers }: DispatchArgument) => (buffers === 1 ? '!hal.buffer_view' : '!util.list<?>');

/**
 * A function that calls the dispatch, as text after the compiler's phase `flow`. It returns the last of several results: all of
 * them depend on the root. A guarded function calls the executable of the plain function.
 */
export function dispatchFunctionText(
  dispatch: Dispatch,
  { name, attribute, isGuarded }: CandidateFunction,
): string {
  const inputs = inputsOf(dispatch);
  const outputs = dispatch.arguments.slice(inputs.length);
  const written = outputs.at(-1)!;
  const result = tensorText(written);
  const several = outputs.length > 1;
  const isPart = writesPart(dispatch);
  const rotates = inputs.some(({ buffers }) => buffers > 1);
  const operands = inputs.map((input, i) => {
    const type = tensorText(input);
    const view =
      input.buffers === 1
        ? `    %view${i} = util.global.load @operand${i} : !hal.buffer_view`
        : `    %list${i} = util.global.load @operand${i} : !util.list<?>
    %count${i} = arith.constant ${input.buffers} : index
    %n${i} = arith.remui %next, %count${i} : index
    %view${i} = util.list.get %list${i}[%n${i}] : !util.list<?> -> !hal.buffer_view`;
    return `${view}
    %operand${i} = hal.tensor.import %view${i} : !hal.buffer_view -> ${type}`;
  });
  const turn = `    %next = util.global.load @next : index
    %one = arith.constant 1 : index
    %after = arith.addi %next, %one : index
    util.global.store %after, @next : index
`;
  const target = `
    %zero = arith.constant ${isFloat(written.elementType) ? '0.0' : '0'} : ${written.elementType}
    %target = flow.tensor.splat %zero : ${result}`;
  const names = [...inputs.map((_, i) => `%operand${i}`), ...(isPart ? ['%target'] : [])].join(', ');
  const types = [...inputs.map(tensorText), ...(isPart ? [result] : [])].join(', ');
  const plain = plainName(name);
  const value = `%result${several ? `#${outputs.length - 1}` : ''}`;
  const executable = `  flow.executable private @x_${name} {
    flow.executable.export public @d_${name} workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
${annotatedText(dispatch, attribute).replace('@dispatch(', `@d_${name}(`)}
    }
  }
`;
  return `${isGuarded ? '' : executable}  ${isGuarded ? guardedSignature(name) : `util.func public @${name}() -> !hal.buffer_view`} {
${rotates ? turn : ''}${operands.join('\n')}${isPart ? target : ''}
    %result${several ? `:${outputs.length}` : ''} = flow.dispatch @x_${plain}::@d_${plain}(${names}) : (${types}) -> ${isPart ? '%target' : several ? `(${outputs.map(tensorText).join(', ')})` : result}
${
  isGuarded
    ? guardedReturn(written, { value })
    : `    %result_view = hal.tensor.export ${value} : ${result} -> !hal.buffer_view
    util.return %result_view : !hal.buffer_view`
}
  }`;
}

/** The text of the dispatch with the attribute on its root, and with strided operands sliced before the root. */
function annotatedText({ text }: Dispatch, attribute: string | null): string {
  if (attribute === null) return text;
  const root = parse(Buffer.from(text, 'latin1')).operations.find(
    (operation) => rootFormOf(operation) !== null,
  );
  return (root && rewrittenRoot(text, root, attribute)) ?? text;
}
