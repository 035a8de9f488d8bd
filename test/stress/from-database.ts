// Builds programs from a tuning database alone: `npm run test:from-database -- FILE...`. A home with a copy of the database and nothing else
// builds the same bytes as the next build of the home that tuned.
import { cpSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Explanation } from '../../src/report/explain.ts';
import { HOST, Workplace } from '../scenarios/support.ts';

const TUNING = { IREE_TUNED_BUDGET: '20' };
const NO_TUNING = { IREE_TUNED_BUDGET: '0' };

/** The fields and the places of operations in which two builds differ. */
function differences(one: Explanation, other: Explanation): string[] {
  const fields = (['route', 'forms', 'reason'] as const).filter(
    (field) => !isDeepStrictEqual(one[field], other[field]),
  );
  const places = one.operations.flatMap(({ location, configuration }, i) =>
    isDeepStrictEqual(configuration, other.operations[i]?.configuration) ? [] : [location],
  );
  return [...fields, ...places];
}

/** Tunes a program in one home, and builds it in another home from the database of the first. */
async function fromDatabase(program: string) {
  const [first, second] = [Workplace.real(), Workplace.real()];
  const build = async (place: Workplace, env: Readonly<Record<string, string>>) => {
    const built = await place.explain([...HOST, program, '-o', 'out.vmfb'], { env });
    if (built.code !== 0) throw new Error(`${program}: exit code ${built.code}: ${built.stderr}`);
    return { ...built.explanation, output: place.read('out.vmfb') };
  };
  const { seconds } = await build(first, TUNING);
  const next = await build(first, NO_TUNING);
  cpSync(first.path('data'), second.path('data'), { recursive: true });
  const alone = await build(second, NO_TUNING);
  const injected = next.operations.filter(
    ({ configuration }) => (configuration?.kind ?? 'default') !== 'default',
  );
  return {
    ...{ program, route: next.route, forms: next.forms?.used ?? false },
    ...{ operations: next.operations.length, injected: injected.length, tuningSeconds: seconds.tuning },
    isSame: alone.output.equals(next.output),
    differences: differences(next, alone),
  };
}

const programs = process.argv.slice(2);
if (programs.length === 0) throw new Error('name the files of programs');
for (const program of programs) {
  const result = await fromDatabase(resolve(program));
  console.log(JSON.stringify(result));
  if (!result.isSame) process.exitCode = 1;
}
