// Operations on scalars of one type, as functions of numbers.

/** Operations on floats, before the result is rounded to its type. */
export const OF_FLOATS: Readonly<Record<string, (...of: readonly number[]) => number>> = {
  'arith.addf': (a, b) => a + b,
  'arith.subf': (a, b) => a - b,
  'arith.mulf': (a, b) => a * b,
  'arith.divf': (a, b) => a / b,
  'arith.negf': (a) => -a,
  'arith.maxnumf': (a, b) => Math.max(a, b),
  'arith.maximumf': (a, b) => Math.max(a, b),
  'arith.minnumf': (a, b) => Math.min(a, b),
  'arith.minimumf': (a, b) => Math.min(a, b),
  'math.absf': (a) => Math.abs(a),
  'math.ceil': (a) => Math.ceil(a),
  'math.erf': (a) => erf(a),
  'math.exp': (a) => Math.exp(a),
  'math.floor': (a) => Math.floor(a),
  'math.log': (a) => Math.log(a),
  'math.log1p': (a) => Math.log1p(a),
  'math.roundeven': (a) => roundEven(a),
  'math.sqrt': (a) => Math.sqrt(a),
  'math.tanh': (a) => Math.tanh(a),
};

/** Operations on integers. */
export const OF_INTEGERS: Readonly<Record<string, (a: number, b: number) => number>> = {
  'arith.addi': (a, b) => a + b,
  'arith.subi': (a, b) => a - b,
  'arith.muli': (a, b) => a * b,
  'arith.divsi': (a, b) => Math.trunc(a / b),
  'arith.floordivsi': (a, b) => Math.floor(a / b),
  'arith.remsi': (a, b) => a % b,
  'arith.maxsi': (a, b) => Math.max(a, b),
  'arith.minsi': (a, b) => Math.min(a, b),
};

const roundEven = (value: number): number => {
  const down = Math.floor(value);
  const isTie = value - down === 0.5;
  return isTie ? down + (Math.abs(down % 2) === 1 ? 1 : 0) : Math.round(value);
};

/** The error function, by a series whose terms all have one sign. */
function erf(value: number): number {
  const size = Math.abs(value);
  // From here on it is 1 in double precision.
  if (size > 6) return Math.sign(value);
  let [term, sum] = [size, size];
  for (let n = 1; term > sum * Number.EPSILON; n++) {
    term *= (2 * size * size) / (2 * n + 1);
    sum += term;
  }
  return Math.sign(value) * (2 / Math.sqrt(Math.PI)) * Math.exp(-size * size) * sum;
}
