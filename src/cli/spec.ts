// `iree-tuned spec`: for users of the compiler as a library, whose compiles no wrapper sees.
import { writeFileSync } from 'node:fs';
import type { Command as Program } from 'commander';
import { planInjection } from '../inject/plan.ts';
import { tuningSpecFlags } from '../inject/spec.ts';
import { injectionOptions, lookUp } from '../pipeline/decide.ts';
import { explainOperations } from '../report/explain.ts';
import { inspectInput, openDatabase, surroundingsOf, UsageError } from './context.ts';

export async function writeSpec(
  input: string,
  flags: readonly string[],
  options: { output?: string; json?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program, { budget: '0' });
  const { subjects } = await inspectInput(input, flags, surroundings);
  const store = await openDatabase(surroundings);
  const decisions = lookUp(store, subjects).decide(new Map(), 'no record: run iree-tuned tune first');
  store.close();
  if (options.json === true) {
    console.log(JSON.stringify(explainOperations(subjects.bytes, input, decisions, null), null, 2));
    return;
  }
  const injection = planInjection(decisions, injectionOptions(subjects, 'spec'));
  if (injection.route !== 'spec') {
    const why = injection.route === 'none' ? injection.reason : '';
    const missing = decisions.filter(({ outcome }) => outcome === 'default').length;
    throw new UsageError(
      missing > 0
        ? `no spec: ${missing} of ${decisions.length} operations have no record yet; run iree-tuned tune ${input} first`
        : `no spec: ${why}`,
    );
  }
  const text = `${usage(options.output ?? 'FILE')}${injection.text}`;
  if (options.output === undefined) process.stdout.write(text);
  else writeFileSync(options.output, text);
}

const usage = (file: string) =>
  [
    'Give the compiler both flags; without the second one programs of many executables can hang it (IREE 3.11 to 3.13):',
    ...tuningSpecFlags(file).map((flag) => `  ${flag}`),
  ]
    .map((line) => `// ${line}\n`)
    .join('');
