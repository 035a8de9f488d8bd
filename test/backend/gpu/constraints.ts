// The compiler's own rules for a configuration: `smt` operations in its dumps.

/** The rules of one pipeline for one operation. */
export interface Constraints {
  /** Names of the matrix instructions; `mma_idx` is an index into them. */
  readonly mmas: readonly string[];
  /**
   * Messages of the broken rules.
   * @param knobs values by the compiler's names
   * @param sizes of the operation's loops
   */
  broken(knobs: Readonly<Record<string, number>>, sizes: readonly number[]): string[];
}

/** The rules for a pipeline such as `TileAndFuse` in a dump of `--iree-codegen-emit-pipeline-constraints`. */
export function constraintsOf(dump: string, pipeline: string): Constraints {
  const begin = dump.indexOf(
    `iree_codegen.smt.constraints target = <set = 0>, pipeline = #iree_gpu.pipeline<${pipeline}>`,
  );
  const text = dump.slice(begin, dump.indexOf('\n          }', begin));
  if (begin < 0) throw new Error(`no constraints of ${pipeline}`);
  const lines = text.split('\n').map((line) => line.trim());
  const list = /one_of_knob<"mma_idx", \[(.*?)\]>/.exec(text)?.[1] ?? '';
  return {
    mmas: [...list.matchAll(/mma_layout<(\w+)>/g)].map(([, name]) => name!),
    broken: (knobs, sizes) => brokenRules(lines, knobs, sizes),
  };
}

const COMPARED: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  ge: (a, b) => a >= b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  lt: (a, b) => a < b,
};

const COMPUTED: Readonly<Record<string, (values: number[]) => number>> = {
  'int.add': (values) => values.reduce((a, b) => a + b),
  'int.mul': (values) => values.reduce((a, b) => a * b),
  'int.sub': ([a, b]) => a! - b!,
  'int.div': ([a, b]) => Math.floor(a! / b!),
  'int.mod': ([a, b]) => a! % b!,
  eq: ([a, b]) => Number(a === b),
  or: (values) => Number(values.some(Boolean)),
  and: (values) => Number(values.every(Boolean)),
};

function brokenRules(
  lines: readonly string[],
  knobs: Readonly<Record<string, number>>,
  sizes: readonly number[],
): string[] {
  const values = new Map(sizes.map((size, i) => [`%arg${i}`, size]));
  const broken: string[] = [];
  const valueOf = (name: string): number => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`${name} has no value`);
    return value;
  };
  const knob = (name: string): number => {
    const value = knobs[name];
    if (value === undefined) throw new Error(`knob ${name} has no value`);
    return value;
  };
  for (const line of lines) {
    const rule = /^iree_codegen\.smt\.assert (%\w+), "(.*?)"/.exec(line);
    if (rule !== null) {
      if (valueOf(rule[1]!) === 0) broken.push(rule[2]!);
      continue;
    }
    const [, result, what] = /^(%\w+) = (?:iree_codegen\.)?smt\.(.*)$/.exec(line) ?? [];
    if (result === undefined || what === undefined) continue;
    const named = /^(?:knob|declare_fun) "(\w+)"/.exec(what)?.[1];
    const constant = /^int\.constant (-?\d+)/.exec(what)?.[1];
    const compared = /^int\.cmp (\w+) (%\w+), (%\w+)/.exec(what);
    const lookup = /^lookup (%\w+) \[(.*?)\] -> \[(.*?)\]/.exec(what);
    if (named !== undefined) values.set(result, knob(named));
    else if (constant !== undefined) values.set(result, Number(constant));
    else if (compared !== null)
      values.set(result, Number(COMPARED[compared[1]!]!(valueOf(compared[2]!), valueOf(compared[3]!))));
    else if (lookup !== null) {
      const [keys, results] = [lookup[2]!, lookup[3]!].map((numbers) => numbers.split(', ').map(Number));
      values.set(result, results![keys!.indexOf(valueOf(lookup[1]!))]!);
    } else {
      const [, name, operands] = /^([a-z.]+) (%\w+(?:, %\w+)*)/.exec(what)!;
      values.set(result, COMPUTED[name!]!(operands!.split(', ').map(valueOf)));
    }
  }
  return broken;
}
