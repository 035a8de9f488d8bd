// `iree-tuned spec`: for users of the compiler as a library, whose compiles no wrapper sees.
import { writeFileSync } from 'node:fs';
import type { Command as Program } from 'commander';
import { planInjection } from '../inject/plan.ts';
import { tuningSpecFlags } from '../spec/tuning.ts';
import { programIdentity } from '../compiler/command-identity.ts';
import { lookUp } from '../decision/look-up.ts';
import { injectionOptions } from '../wrapper/plan.ts';
import { programMemory, inProgram } from '../wrapper/program-memory.ts';
import { explainOperations } from '../report/explain.ts';
import { UserError } from '../system/user-error.ts';
import { atDevice, inspectInput, openToLook, surroundingsOf } from './context.ts';

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
  const decisions = inProgram(found, memory, lookup.marked, 'spec');
  store.close();
  if (options.json === true) {
    console.log(JSON.stringify(explainOperations(inspected.input.bytes, input, decisions, null), null, 2));
    return;
  }
  const injection = planInjection(decisions, injectionOptions(inspected.input, inspected.site, 'spec'));
  if (injection.route !== 'spec') {
    const why = injection.route === 'none' ? injection.reason : '';
    const missing = decisions.filter(({ outcome }) => outcome === 'default').length;
    throw new UserError(
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
