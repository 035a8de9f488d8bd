// `iree-tuned spec`
import { writeFileSync } from 'node:fs';
import type { Decision } from '../decision/decision.ts';
import { dispatchRules } from '../inject/dispatch-rules.ts';
import { planInjection, type Injection, type InjectionOptions } from '../inject/plan.ts';
import { specFlags } from '../inject/injection-flags.ts';
import { compilingWith } from '../inject/substitute.ts';
import { choicesOf, type FormChoice } from '../form/choose.ts';
import { formsSpec, REWRITE } from '../form/spec.ts';
import { packingsOf } from '../running/variants/forms.ts';
import { pipelineFlags, rewritingPasses } from '../spec/pipeline.ts';
import { untunedCompile } from '../plan/injected-command.ts';
import { injectionOptions } from '../plan/route.ts';
import { explainOperations, whyNothing } from '../report/explain.ts';
import type { InjectRoute } from '../settings/settings.ts';
import { UserError } from '../system/user-error.ts';
import { CliCommand } from './command.ts';
import { decideByRecords } from './by-records.ts';
import { inspectInput, PassedThroughError } from './input.ts';
import { warn } from './output.ts';
import { because } from '../system/reason.ts';

export const spec = new CliCommand(
  'spec',
  'write a tuning spec for an input from its records, for programs that use the compiler as a library',
)
  .argument('<input>', 'MLIR file')
  .withFlags('<input>')
  .output('path of the spec (default: stdout)')
  .json('print decisions and compiler flags as JSON; with -o write all specs, data tiling included')
  .examples(['iree-tuned spec model.mlir -o spec.mlir', 'its first lines have the compiler flags'])
  .action(writeSpec);

async function writeSpec(
  input: string,
  { output, json }: { output?: string; json?: boolean },
  command: CliCommand,
): Promise<void> {
  if (json === true) {
    console.log(JSON.stringify(await writeForProgram(input, output, command), null, 2));
    return;
  }
  const { decisions, planned, choices, left } = await decide(input, 'spec', command);
  const injection = planInjection(decisions, planned);
  if (injection.route === 'none' && choices.length === 0) {
    const missing = decisions.filter(({ outcome }) => outcome === 'default').length;
    throw new UserError(
      missing > 0
        ? `no spec: ${missing} of ${decisions.length} operations have no record yet; run iree-tuned tune ${input} first`
        : `no spec: ${injection.reason}`,
    );
  }
  if (output === undefined && choices.length > 0)
    throw new UserError('this program needs a second spec for its forms: name the first with -o FILE');
  if (left.length > 0) warn(`no spec can carry the configurations of ${left.join(', ')}`);
  const specs = specsOf(injection, choices, output ?? 'FILE');
  const [first, ...others] = specs.files;
  const text = `${usage(specs.flags)}${first!.text}`;
  if (output === undefined) process.stdout.write(text);
  else for (const file of [{ path: output, text }, ...others]) writeFileSync(file.path, file.text);
}

/**
 * Writes all specs, for a program that calls the compiler. Data tiling needs long flags, so only programs get it. `flags` come before the
 * program's own; empty without configurations or without `-o`. `reason` says why there are no configurations; null otherwise.
 */
async function writeForProgram(input: string, output: string | undefined, command: CliCommand) {
  try {
    const { decisions, planned, text, choices, forms } = await decide(input, 'auto', command);
    const injection = planSpecs(decisions, planned);
    const specs = output === undefined ? { files: [], flags: [] } : specsOf(injection, choices, output);
    for (const { path, text } of specs.files) writeFileSync(path, text);
    const operations = explainOperations(text, input, decisions, null);
    return { flags: specs.flags, ...whyNothing(injection, forms), forms, operations };
  } catch (error) {
    if (!(error instanceof PassedThroughError)) throw error;
    return { flags: [], ...error.why, forms: null, operations: [] };
  }
}

/**
 * Decides for an input by its records, without tuning. `left` names the executables whose configurations no spec can carry. `choices` are
 * the forms of operations; empty where all are as written.
 */
async function decide(input: string, inject: InjectRoute, cli: CliCommand) {
  const surroundings = cli.surroundings({ budget: '0' });
  const program = await inspectInput(input, cli.flags, surroundings);
  const { command, inspected, decisions, names, forms } = await decideByRecords(program, surroundings, {
    inject,
    whyNot: () => because('no-record', 'no record: run iree-tuned tune first'),
  });
  const planned = injectionOptions(inspected, 'spec');
  const choices = choicesOf(program.inspected.input.rewritables, names, packingsOf(program));
  const common = { decisions, text: inspected.input, choices, forms };
  // A build substitutes these dispatches.
  const { entries = [] } = planInjection(decisions, planned);
  if (entries.length === 0) return { ...common, planned, left: [] };
  const { env, cacheDirectory } = surroundings;
  const untuned = untunedCompile({ command, inspected });
  const compileWith = compilingWith(command.compiler.executable, untuned, { env, cacheDirectory });
  const { release } = inspected.site.compiler;
  const { rules, left } = await dispatchRules(compileWith, entries, release, cacheDirectory);
  return {
    ...{ ...common, planned: { ...planned, dispatchRules: rules } },
    left: left.map(({ executables }) => executables.join(', ')),
  };
}

/** The injection by specs for all configurations; if there is none, the part that a tuning spec can carry. */
function planSpecs(decisions: readonly Decision[], options: InjectionOptions): Injection {
  const all = planInjection(decisions, { ...options, wanted: 'auto', lost: ['inline', 'substitute'] });
  return 'text' in all ? all : planInjection(decisions, options);
}

/** The files of a program's specs, the first at `path`, and the flags that load them; none without configurations. */
function specsOf(injection: Injection, choices: readonly FormChoice[], path: string) {
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
    'Pass these flags to the compiler. Without the pipeline, programs with many executables can hang IREE 3.11 to 3.13:',
    ...flags.map((flag) => `  ${flag}`),
  ]
    .map((line) => `// ${line}\n`)
    .join('');
