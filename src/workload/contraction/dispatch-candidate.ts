// Text of a module of candidates that are a dispatch of a program: one copy of the dispatch for each candidate. Calls rotate
// through as many buffers as pass by in the program, so weights come from memory as they do there.
import { parse } from 'mlir-parser-ts';
import type { CandidateFunction } from '../kind.ts';
import type { Contraction } from './contraction.ts';
import { elementBits, isFloat, isNarrowFloat } from '../element-type.ts';
import { anyLines, FACTORS, fillerOf, fillLines, type Filler } from '../fillers.ts';
import { guardedReturn, guardedSignature, plainName } from '../guarded.ts';
import { elementsOf, tensorText } from '../tensor.ts';
import { writesPart, type Dispatch, type DispatchArgument } from './dispatch.ts';
import { rootFormOf } from './from-operation.ts';
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
 * A function that calls the dispatch, as text after the compiler's phase `flow`. Its last execution gives the result, and in the first
 * call reads the first buffers. It returns the last of several results: all of them depend on the root. A guarded function calls the
 * executable of the plain function.
 */
export function dispatchFunctionText(
  dispatch: Dispatch,
  { name, attribute, isGuarded, executions }: CandidateFunction,
): string {
  const inputs = inputsOf(dispatch);
  const outputs = dispatch.arguments.slice(inputs.length);
  const written = outputs.at(-1)!;
  const result = tensorText(written);
  const several = outputs.length > 1;
  const isPart = writesPart(dispatch);
  const rotates = inputs.some(({ buffers }) => buffers > 1);
  const turns = Array.from({ length: executions }, (_, turn) => turn);
  const operands = inputs.map((input, i) => {
    const imported = (to: string) =>
      `    %operand${to} = hal.tensor.import %view${to} : !hal.buffer_view -> ${tensorText(input)}`;
    if (input.buffers === 1)
      return `    %view${i} = util.global.load @operand${i} : !hal.buffer_view\n${imported(`${i}`)}`;
    const reads = turns.map((turn) => {
      const ahead = (turn + 1 + executions * (input.buffers - 1)) % input.buffers;
      const to = `${i}_${turn}`;
      return `    %ahead${to} = arith.constant ${ahead} : index
    %sum${to} = arith.addi %next, %ahead${to} : index
    %n${to} = arith.remui %sum${to}, %count${i} : index
    %view${to} = util.list.get %list${i}[%n${to}] : !util.list<?> -> !hal.buffer_view
${imported(to)}`;
    });
    return `    %list${i} = util.global.load @operand${i} : !util.list<?>
    %count${i} = arith.constant ${input.buffers} : index
${reads.join('\n')}`;
  });
  const begin = `    %next = util.global.load @next : index
    %executions = arith.constant ${executions} : index
    %after = arith.addi %next, %executions : index
    util.global.store %after, @next : index
`;
  const target = `
    %zero = arith.constant ${isFloat(written.elementType) ? '0.0' : '0'} : ${written.elementType}
    %target = flow.tensor.splat %zero : ${result}`;
  const types = [...inputs.map(tensorText), ...(isPart ? [result] : [])].join(', ');
  const plain = plainName(name);
  const valueOf = (turn: number) => `%result${turn}${several ? `#${outputs.length - 1}` : ''}`;
  const calls = turns.map((turn) => {
    // Each execution writes the same part.
    const to = turn === 0 ? '%target' : valueOf(turn - 1);
    const read = inputs.map(({ buffers }, i) => `%operand${i}${buffers === 1 ? '' : `_${turn}`}`);
    const names = [...read, ...(isPart ? [to] : [])].join(', ');
    return `    %result${turn}${several ? `:${outputs.length}` : ''} = flow.dispatch @x_${plain}::@d_${plain}(${names}) : (${types}) -> ${isPart ? to : several ? `(${outputs.map(tensorText).join(', ')})` : result}`;
  });
  // The barriers keep executions without other uses.
  const kept = isPart ? [] : turns.slice(0, -1).map(valueOf);
  const barriers = kept.map((value, i) => `\n    %kept${i} = util.optimization_barrier ${value} : ${result}`);
  const value = valueOf(executions - 1);
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
${rotates ? begin : ''}${operands.join('\n')}${isPart ? target : ''}
${calls.join('\n')}${barriers.join('')}
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

/** Bits of exact values. Narrow accumulators take fewer bits; over a long k they still round. */
export const exactBits = (workload: Contraction, elementType: string): number =>
  isNarrowFloat(workload.accumulator.elementType) ? 2 : Math.min(4, elementBits(elementType));
