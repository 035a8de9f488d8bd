// `iree-tuned spec`: for users of the compiler as a library, whose compiles no wrapper sees.
import { writeFileSync } from 'node:fs';
import type { Command as Program } from 'commander';
import type { Decision } from '../decision/decision.ts';
import { planInjection, type Injection, type InjectionOptions } from '../inject/plan.ts';
import { specFlags } from '../inject/spec-flags.ts';
import { tuningSpecFlags } from '../spec/tuning.ts';
import { programIdentity } from '../compiler/command-identity.ts';
import { lookUp } from '../decision/look-up.ts';
import { injectionOptions } from '../wrapper/plan.ts';
import { programMemory, inProgram } from '../wrapper/program-memory.ts';
import { explainOperations } from '../report/explain.ts';
import { atDevice, inspectInput, openToLook, surroundingsOf, UsageError } from './context.ts';

export async function writeSpec(
  input: string,
  flags: readonly string[],
  options: { output?: string; json?: boolean },
  program: Program,
): Promise<void> {
  const surroundings = surroundingsOf(program, { budget: '0' });
  const { command, inspected: read } = await inspectInput(input, flags, surroundings);
  const { store } = await openToLook(surroundings);
  const inspected = atDevice(read, store, surroundings);
  const lookup = lookUp(store, inspected.input, inspected.site, surroundings.settings);
  const { cacheDirectory } = surroundings;
  const memory = programMemory.recall(
    cacheDirectory,
    programIdentity(command, inspected.input.digest, inspected.site.deviceKey),
  );
  const found = lookup.decide(new Map(), 'no record: run iree-tuned tune first');
  const isForProgram = options.json === true;
  const decisions = inProgram(found, memory, lookup.marked, isForProgram ? 'auto' : 'spec');
  store.close();
  const planned = injectionOptions(inspected.input, inspected.site, 'spec');
  if (isForProgram) {
    const { output } = options;
    const injection = planSpecs(decisions, planned);
    const flags = output !== undefined && 'text' in injection ? writeSpecs(injection, output) : [];
    const reason = injection.route === 'none' ? injection.reason : null;
    const operations = explainOperations(inspected.input.bytes, input, decisions, null);
    console.log(JSON.stringify({ flags, reason, operations }, null, 2));
    return;
  }
  const injection = planInjection(decisions, planned);
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

/** What flags can bring to a compile in another process: all of it by specs, else what a tuning spec can. */
function planSpecs(decisions: readonly Decision[], options: InjectionOptions): Injection {
  const all = planInjection(decisions, { ...options, wanted: 'auto', lost: ['inline', 'substitute'] });
  return 'text' in all ? all : planInjection(decisions, options);
}

/** Writes the specs, the first one to `path`; gives the flags that bring them. */
function writeSpecs(injection: Extract<Injection, { readonly text: string }>, path: string): string[] {
  let count = 0;
  return specFlags(injection, (text) => {
    const file = count++ === 0 ? path : `${path}.${count}.mlir`;
    writeFileSync(file, text);
    return file;
  });
}

const usage = (file: string) =>
  [
    'Give the compiler both flags; without the second one programs of many executables can hang it (IREE 3.11 to 3.13):',
    ...tuningSpecFlags(file).map((flag) => `  ${flag}`),
  ]
    .map((line) => `// ${line}\n`)
    .join('');
