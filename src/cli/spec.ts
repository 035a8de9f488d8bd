// `iree-tuned spec`: for users of the compiler as a library, whose compiles no wrapper sees.
import { writeFileSync } from 'node:fs';
import type { Command as Program } from 'commander';
import type { Command } from '../compiler/command.ts';
import type { Decision } from '../decision/decision.ts';
import { dispatchRules, type DispatchRules } from '../inject/dispatch-rules.ts';
import { planInjection, type DispatchEntry, type Injection, type InjectionOptions } from '../inject/plan.ts';
import { specFlags } from '../inject/spec-flags.ts';
import type { FormChoice } from '../form/choose.ts';
import { formsSpec, REWRITE } from '../form/spec.ts';
import { pipelineFlags, rewritingPasses } from '../spec/pipeline.ts';
import { lookUp } from '../decision/look-up.ts';
import { untunedCompile } from '../plan/injected-command.ts';
import type { Inspected } from '../plan/inspected.ts';
import { injectionOptions } from '../plan/route.ts';
import { inKnownForms } from '../wrapper/program-forms.ts';
import { programMemory, inProgram } from '../running/program-memory.ts';
import { programOf } from '../running/program-notes.ts';
import {
  explainOperations,
  whyNothing,
  type ExplainedForms,
  type ExplainedOperation,
} from '../report/explain.ts';
import type { Input } from '../input/input.ts';
import type { InjectRoute } from '../settings/settings.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { UserError } from '../system/user-error.ts';
import { atDevice, inspectInput, openIfThere, PassedThroughError, surroundingsOf } from './context.ts';
import { warn } from './output.ts';
import { because, NO_REASON, type ReasonCode } from '../system/reason.ts';

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
  const { decisions, planned, choices, left } = await decide(input, flags, 'spec', program);
  const injection = planInjection(decisions, planned);
  if (injection.route !== 'spec' && choices.length === 0) {
    const why =
      injection.route === 'none'
        ? injection.reason
        : 'what was found is for dispatches of this program, and no spec can carry that; lock it, or build with the database';
    const missing = decisions.filter(({ outcome }) => outcome === 'default').length;
    throw new UserError(
      missing > 0
        ? `no spec: ${missing} of ${decisions.length} operations have no record yet; run iree-tuned tune ${input} first`
        : `no spec: ${why}`,
    );
  }
  if (output === undefined && choices.length > 0)
    throw new UserError(
      'this program is compiled in other forms, which takes a second file: say where with -o FILE',
    );
  if (left.length > 0) warn(`no spec can bring the configurations of ${left.join(', ')}`);
  const specs = specsOf(injection, choices, output ?? 'FILE');
  const [first, ...others] = specs.files;
  const text = `${usage(specs.flags)}${first!.text}`;
  if (output === undefined) process.stdout.write(text);
  else for (const file of [{ path: output, text }, ...others]) writeFileSync(file.path, file.text);
}

/** Facts for a program that compiles by itself. */
interface ForProgram {
  /** To be put in front of its own; none where there is nothing to bring, or nowhere to write it. */
  readonly flags: readonly string[];
  /** Why there is nothing to bring; null otherwise. */
  readonly reason: string | null;
  readonly code: ReasonCode | null;
  readonly forms: ExplainedForms | null;
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
    const { decisions, planned, text, choices, forms } = await decide(input, flags, 'auto', program);
    const injection = planSpecs(decisions, planned);
    const specs = output === undefined ? { files: [], flags: [] } : specsOf(injection, choices, output);
    for (const { path, text } of specs.files) writeFileSync(path, text);
    return {
      flags: specs.flags,
      ...(whyNothing(injection, forms) ?? NO_REASON),
      forms,
      operations: explainOperations(text, input, decisions, null),
    };
  } catch (error) {
    if (!(error instanceof PassedThroughError)) throw error;
    return { flags: [], ...error.why, forms: null, operations: [] };
  }
}

interface DecidedByRecords {
  readonly decisions: readonly Decision[];
  readonly planned: InjectionOptions;
  /** Dispatches whose configurations no spec can bring, as the compiler calls them. */
  readonly left: readonly string[];
  readonly text: Input;
  /** The forms of its convolutions; none where it is compiled as it is written. */
  readonly choices: readonly FormChoice[];
  readonly forms: ExplainedForms | null;
}

/** Decisions about an input, by records alone. */
async function decide(
  input: string,
  flags: readonly string[],
  inject: InjectRoute,
  program: Program,
): Promise<DecidedByRecords> {
  const surroundings = surroundingsOf(program, { budget: '0' });
  const { command: asked, inspected: read } = await inspectInput(input, flags, surroundings);
  const store = await openIfThere(surroundings);
  const written = { command: asked, inspected: atDevice(read, store, surroundings) };
  const better = await inKnownForms(written, store, surroundings);
  const { command, inspected } = better.program;
  const lookup = lookUp(store, inspected.input, inspected.site, surroundings.settings);
  const memory = programMemory.recall(store, programOf(command, inspected));
  const found = lookup.decide(new Map(), because('no-record', 'no record: run iree-tuned tune first'));
  store?.close();
  const decisions = inProgram(found, memory, lookup.marked, inject);
  const options = injectionOptions(inspected.input, inspected.site, 'spec');
  const { dispatches = [] } = planInjection(decisions, options);
  const { rules, left } = await rulesFor(dispatches, command, inspected, surroundings);
  return {
    decisions,
    planned: { ...options, dispatchRules: rules },
    left: left.map(({ executables }) => executables.join(', ')),
    text: inspected.input,
    choices: better.choices,
    forms: better.forms,
  };
}

/** Rules for dispatches that a build would substitute. */
function rulesFor(
  dispatches: readonly DispatchEntry[],
  command: Command,
  inspected: Inspected,
  { env, cacheDirectory }: Surroundings,
): Promise<DispatchRules> | DispatchRules {
  if (dispatches.length === 0) return { rules: [], left: [] };
  const { argv, stdin } = untunedCompile(command, inspected);
  const { release } = inspected.site.compiler;
  const options = { env, stdin, cacheDirectory };
  return dispatchRules(command.compiler.executable, argv, dispatches, release, options);
}

/** The injection for a compile in another process: everything by specs, else the part that a tuning spec can bring. */
function planSpecs(decisions: readonly Decision[], options: InjectionOptions): Injection {
  const all = planInjection(decisions, { ...options, wanted: 'auto', lost: ['inline', 'substitute'] });
  return 'text' in all ? all : planInjection(decisions, options);
}

interface Specs {
  /** The first one is at the path that was asked for. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Those that bring them. */
  readonly flags: readonly string[];
}

/** The specs of a program; none where there is nothing to bring. */
function specsOf(injection: Injection, choices: readonly FormChoice[], path: string): Specs {
  const files: { path: string; text: string }[] = [];
  const write = (text: string) => {
    const file = files.length === 0 ? path : `${path}.${files.length + 1}.mlir`;
    files.push({ path: file, text });
    return file;
  };
  const hasSpec = 'text' in injection;
  const formsPath = hasSpec ? `${path}.forms.mlir` : path;
  const passes = choices.length === 0 ? [] : [rewritingPasses(formsPath, REWRITE)];
  const flags = hasSpec ? specFlags(injection, write, passes) : pipelineFlags(passes);
  if (choices.length > 0) files.push({ path: formsPath, text: formsSpec(choices) });
  return { files, flags };
}

const usage = (flags: readonly string[]) =>
  [
    'Give the compiler these flags; without the pipeline, programs of many executables can hang it (IREE 3.11 to 3.13):',
    ...flags.map((flag) => `  ${flag}`),
  ]
    .map((line) => `// ${line}\n`)
    .join('');
