// Builds whose candidates are slow to compile, hang the compiler or crash it: `npm run test:budget -- [COUNT] [SEED]`. No build exceeds its
// budget by more than a fifth.
import { seededRandom } from '../../src/search/strategy.ts';
import { giveAnswers } from '../support/answers.ts';
import { compiler } from '../support/real-tools.ts';
import { HOST, matmulModule, rowsOf, runMatmul, Workplace, argv } from '../scenarios/support.ts';
import { candidateCompiler } from './cached-compiler.ts';

const BUDGET_SECONDS = 15;
const MOST = 1.2;

/** Of 1000 configurations, the numbers that hang the compiler, crash it, or slow it down. */
const HANGING = 20;
const CRASHING = 30;
const SLOW = 50;
const SLOW_SECONDS = 2;

/** The result of one build. */
interface BuiltOnce {
  readonly shape: string;
  /** Seconds of tuning by the build's explanation, and of the whole build. */
  readonly tuning: number;
  readonly wall: number;
  readonly trials: number;
  readonly outcome: string;
  /** Faults of the compiler during the build. */
  readonly faults: readonly string[];
}

/** A compiler whose faults depend on the configuration alone. @returns its path */
function faultyCompiler(folder: string, seed: number, log: string): string {
  return candidateCompiler(
    folder,
    `fault=$(grep -o 'lowering_config = #[^>]*>' "$source" | sort -u | while read -r configuration; do
  number=$(printf '${seed} %s' "$configuration" | cksum)
  number=$((\${number%% *} % 1000))
  if [ $number -lt ${HANGING} ]; then echo hangs
  elif [ $number -lt ${HANGING + CRASHING} ]; then echo crashes
  elif [ $number -lt ${HANGING + CRASHING + SLOW} ]; then echo slow
  fi
done | sort | head -n 1)
[ -z "$fault" ] || echo "$fault" >>'${log}'
case $fault in
  hangs) exec sleep 1000 ;;
  crashes) ulimit -c 0; kill -SEGV $$ ;;
  slow) sleep ${SLOW_SECONDS} ;;
esac
exec '${compiler.executable}' "$@"`,
  );
}

/** Builds another matmul with another compiler each time. */
export async function builds(
  count: number,
  seed: number,
  say: (line: string) => void,
): Promise<{ readonly built: readonly BuiltOnce[]; readonly problems: readonly string[] }> {
  const place = Workplace.real({ IREE_TUNED_BUDGET: String(BUDGET_SECONDS) });
  const random = seededRandom(seed);
  const built: BuiltOnce[] = [];
  const problems: string[] = [];
  for (let i = 0; i < count; i++) {
    const [m, n, k] = [0, 0, 0].map(() => 48 + Math.floor(random() * 80)) as [number, number, number];
    const shape = `${m}x${n}x${k}`;
    place.write('in.mlir', matmulModule(m, n, k));
    place.write('faults', '');
    await place.stock([...HOST, 'in.mlir', '-o', 'stock.vmfb']);
    const faulty = faultyCompiler(place.path(`tools${i}`), seed + i, place.path('faults'));
    giveAnswers(place.path('cache'), faulty);
    const before = rowsOf(place, 'trial');
    const begun = performance.now();
    const { code, stderr, explanation } = await place.explain(argv, {
      env: { IREE_TUNED_COMPILER: faulty },
    });
    const one: BuiltOnce = {
      shape,
      tuning: explanation.seconds.tuning,
      wall: (performance.now() - begun) / 1000,
      trials: rowsOf(place, 'trial') - before,
      outcome: `${explanation.operations[0]!.outcome}: ${explanation.operations[0]!.reason}`,
      faults: place.read('faults').toString().trim().split('\n').filter(Boolean),
    };
    built.push(one);
    say(JSON.stringify(one));
    const problem = (what: string) => problems.push(`build ${i} of ${shape}: ${what}`);
    if (code !== 0 || stderr !== '') problem(`ended with ${code}: ${stderr}`);
    const [mine, stock] = [
      await runMatmul(place, 'out.vmfb', m, n, k),
      await runMatmul(place, 'stock.vmfb', m, n, k),
    ];
    if (mine.code !== 0 || !mine.stdout.equals(stock.stdout)) problem('its output is wrong');
    if (one.tuning > MOST * BUDGET_SECONDS) problem(`tuning took ${one.tuning.toFixed(1)} s`);
    // On a busy machine a hang can use up the budget before the first trial.
    if (one.trials === 0 && !one.faults.includes('hangs')) problem('no trial was written');
  }
  return { built, problems };
}

const counted = (words: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(words, String)].map(([word, all]) => [word, all.length]));

if (import.meta.main) {
  const [count = 30, seed = 1] = process.argv.slice(2).map(Number);
  const { built, problems } = await builds(count, seed, console.log);
  for (const problem of problems) console.log(problem);
  const tuning = built.map((one) => one.tuning).sort((a, b) => a - b);
  const faults = built.flatMap((one) => one.faults);
  console.log(
    JSON.stringify({
      builds: count,
      ...{ seed, budget: BUDGET_SECONDS, longest: tuning.at(-1), median: tuning[count >> 1] },
      faults: counted(faults),
      problems: problems.length,
    }),
  );
  if (problems.length > 0) process.exitCode = 1;
}
