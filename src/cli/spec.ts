// `iree-tuned spec`: for users of the compiler as a library, whose compiles no wrapper sees.
import { writeFileSync } from 'node:fs';
import type { Command as Program } from 'commander';
import type { Decision } from '../decision/decision.ts';
import { planInjection, type Injection, type InjectionOptions } from '../inject/plan.ts';
import { specFlags } from '../inject/spec-flags.ts';
import { tuningSpecFlags } from '../spec/tuning.ts';
import { lookUp } from '../decision/look-up.ts';
import { injectionOptions } from '../wrapper/plan.ts';
import { programMemory, inProgram } from '../wrapper/program-memory.ts';
import { programOf } from '../wrapper/program-notes.ts';
import { explainOperations, type ExplainedOperation } from '../report/explain.ts';
import type { InjectRoute } from '../settings/settings.ts';
import { UserError } from '../system/user-error.ts';
import { atDevice, inspectInput, openIfThere, PassedThroughError, surroundingsOf } from './context.ts';

export async function writeSpec(
  input: string,
  flags: readonly string[],
  options: { output?: string; json?: boolean },
  program: Program,
): Promise<void> {
  const { output } = options;
  if (options.json === true) {
    console.log(JSON.stringify(await writeForProgram(input, flags, output, program), null, 2));
    return;
  }
  const { decisions, planned } = await decide(input, flags, 'spec', program);
  const injection = planInjection(decisions, planned);
  if (injection.route !== 'spec') {
    const why = injection.route === 'none' ? injection.reason : '';
    const missing = decisions.filter(({ outcome }) => outcome === 'default').length;
    throw new UserError(
      missing > 0
        ? `no spec: ${missing} of ${decisions.length} operations have no record yet; run iree-tuned tune ${input} first`
        : `no spec: ${why}`,
    );
  }
  const text = `${usage(output ?? 'FILE')}${injection.text}`;
  if (output === undefined) process.stdout.write(text);
  else writeFileSync(output, text);
}

/** What a program that compiles itself has to know. */
interface ForProgram {
  /** To be put in front of its own; none where there is nothing to bring, or nowhere to write it. */
  readonly flags: readonly string[];
  /** Why there is nothing to bring; null otherwise. */
  readonly reason: string | null;
  readonly operations: readonly ExplainedOperation[];
}

/** Writes everything that specs can bring, data tiling too, which takes flags that no person wants to copy. */
async function writeForProgram(
  input: string,
  flags: readonly string[],
  output: string | undefined,
  program: Program,
): Promise<ForProgram> {
  try {
    const { decisions, planned, bytes } = await decide(input, flags, 'auto', program);
    const injection = planSpecs(decisions, planned);
    return {
      flags: output !== undefined && 'text' in injection ? writeSpecs(injection, output) : [],
      reason: injection.route === 'none' ? injection.reason : null,
      operations: explainOperations(bytes, input, decisions, null),
    };
  } catch (error) {
    if (!(error instanceof PassedThroughError)) throw error;
    return { flags: [], reason: error.reason, operations: [] };
  }
}

/** What the operations of an input get from the records there are. */
async function decide(
  input: string,
  flags: readonly string[],
  inject: InjectRoute,
  program: Program,
): Promise<{ decisions: readonly Decision[]; planned: InjectionOptions; bytes: Uint8Array }> {
  const surroundings = surroundingsOf(program, { budget: '0' });
  const { command, inspected: read } = await inspectInput(input, flags, surroundings);
  const store = await openIfThere(surroundings);
  const inspected = atDevice(read, store, surroundings);
  const lookup = lookUp(store, inspected.input, inspected.site, surroundings.settings);
  const memory = programMemory.recall(store, programOf(command, inspected));
  const found = lookup.decide(new Map(), 'no record: run iree-tuned tune first');
  store?.close();
  return {
    decisions: inProgram(found, memory, lookup.marked, inject),
    planned: injectionOptions(inspected.input, inspected.site, 'spec'),
    bytes: inspected.input.bytes,
  };
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
