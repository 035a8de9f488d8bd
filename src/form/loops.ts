// Loops of a program, such as those over the steps of an LSTM. The runtime records, submits and awaits the dispatches of one iteration after the
// other, which takes longer than small dispatches do. With several steps in each iteration, it does so once for all of them.
import { bufferOf } from '../system/bytes.ts';
import { isIntegerWithin } from '../system/data.ts';
import type { RewritableKind } from './form.ts';
import { FUNCTIONS } from './sequences.ts';

/** All loops of a program together. */
export interface Loops {
  readonly name: typeof NAME;
  /** Operations on tensors in the longest body. */
  readonly operations: number;
}

const NAME = 'scf.for';

/** Steps in an iteration, the preferred number first. */
const FACTORS = [16, 8, 4, 2];

/** Operations in an iteration. More of them take longer to compile, and longer to run than their submission. */
const MOST_OPERATIONS = 512;

const HEAD = /^( *)(?:%[^\n]* = )?scf\.for [^\n]*\{(?: loc\([^\n]*)?$/gm;
const NESTED = /\bscf\.(?:for|while) /;
const OPERATION = / = (?:linalg|iree_linalg_ext)\.\w/g;

/** The loops in a text of the compiler; null for a program without any, and for loops in loops. */
export function readLoops(text: Uint8Array): Loops | null {
  const bytes = bufferOf(text);
  if (!bytes.includes(NAME)) return null;
  const all = bytes.toString('latin1');
  const bodies = [...all.matchAll(HEAD)].map((head) => {
    const from = head.index + head[0].length;
    return all.slice(from, all.indexOf(`\n${head[1]}}`, from));
  });
  if (bodies.some((body) => NESTED.test(body))) return null;
  const operations = Math.max(0, ...bodies.map((body) => body.match(OPERATION)?.length ?? 0));
  const loops = { name: NAME, operations } as const;
  return isLoops(loops) ? loops : null;
}

/** Whether a value, for example from a file, is such loops. */
function isLoops(value: unknown): value is Loops {
  const { name, operations } = (value ?? {}) as Partial<Record<keyof Loops, unknown>>;
  return name === NAME && isIntegerWithin(operations, 1, MOST_OPERATIONS / 2);
}

const factorOf = ({ operations }: Loops): number =>
  FACTORS.find((factor) => factor * operations <= MOST_OPERATIONS)!;

export const loopsOfPrograms: RewritableKind<Loops> = {
  is: isLoops,
  key: ({ name, operations }) => `${name} of ${operations} operations`,
  formsOf: (loops) => [{ name: `unrolled-${factorOf(loops)}` }],
  unrolling: (
    loops,
    root,
  ) => `    %unrolled = transform.structured.match ${FUNCTIONS} in ${root} : (!transform.any_op) -> !transform.any_op
    transform.foreach %unrolled : !transform.any_op {
    ^bb0(%function: !transform.any_op):
      %loops = transform.structured.match ops{["scf.for"]} in %function : (!transform.any_op) -> !transform.any_op
      transform.loop.unroll %loops factor = ${factorOf(loops)} : !transform.any_op
    }
`,
};
