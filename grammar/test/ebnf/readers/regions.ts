import { parseBody } from '../../../src/body.ts';
import { OPEN_BRACE } from '../../../src/characters.ts';
import type { Body } from '../../../src/main.ts';
import type { Tree } from '../derive.ts';
import { nameOf, partOf, partsOf, type Reader, whole } from '../reader.ts';
import { valuesOf } from './types.ts';

/** Bodies by the values and statements of their regions. */
const BODIES: Readonly<Record<string, Body>> = {
  '%x %y %z; %p = arith.mulf %x %y; %s = arith.addf %z %p; %s': 'multiply-add',
  '%x %y %z; %i = arith.extui %x; %p = arith.muli %i %y; %s = arith.addi %p %z; %s': 'multiply-add-unsigned',
  '%x %y %z; %p = arith.andi %x %y; %s = arith.ori %z %p; %s': 'multiply-add-like',
};

/** `other` for all regions that are not in {@link BODIES}. */
export function bodyOf(text: string, region: Tree): Body {
  const contraction = partOf(region, 'contraction-body');
  if (contraction === undefined) return 'other';
  const values = (tree: Tree, label: string) => valuesOf(text, partOf(tree, label)!).join(' ');
  const statements = partsOf(contraction, 'statement').map((statement) => {
    const name = partOf(statement, 'bare-id') ?? partOf(statement, 'string');
    return `${valuesOf(text, statement).join(' ')} = ${nameOf(text, name!)} ${values(statement, 'operands')}`;
  });
  const said = [values(contraction, 'block-header'), ...statements, values(contraction, 'operands')].join(
    '; ',
  );
  return BODIES[said] ?? 'other';
}

const HEADER = '{ ^bb0(%x: f32, %y: complex<f32> loc(#a), %z: f32):';

const contractions = [
  `${HEADER} %p = arith.mulf %x, %y : f32 %s = "arith.addf"(%z, %p) <{a = %b}> {c} : (f32) -> f32 linalg.yield %s : f32 }`,
  `${HEADER} %i = "arith.extui"(%x) : (i8) -> i32 %p = arith.muli %i, %y %s = arith.addi %p, %z "linalg.yield"(%s) }`,
  `${HEADER} %p = arith.andi %x, %y fastmath<a> : f32 %s = arith.ori %z, %p : f32 linalg.yield %s : f32 loc(#b) }`,
];

export const regionReaders: readonly Reader[] = [
  {
    production: 'region',
    examples: [...contractions, '{}', '{ linalg.matmul (b) }'],
    choices: { 'region/contraction-body': [contractions] },
    // Between statements, brackets need not fit.
    expendable: /^[<>()]$/,
    read: whole((source) => (source.scanner.next() === OPEN_BRACE ? parseBody(source) : null)),
    says: bodyOf,
  },
];
