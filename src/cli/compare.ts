// `iree-tuned compare`
import { accessSync, constants } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { compareBuilds, type Comparison } from '../running/comparison/compare.ts';
import { HEADER, notesOf, resultsOf, rowsOf, sentenceOf } from '../running/comparison/words.ts';
import { lineDisplay } from '../report/progress.ts';
import { table } from '../report/table.ts';
import type { Command } from '../compiler/command.ts';
import { describeSite, type Site } from '../site/site.ts';
import { counted } from '../system/format.ts';
import { packageRoot } from '../system/package-root.ts';
import { isReason } from '../system/reason.ts';
import { UserError } from '../system/user-error.ts';
import { CliCommand } from './command.ts';
import { measuringToolsAt, named, PassedThroughError, readableCommand } from './input.ts';
import { page, sentences } from './output.ts';
import { orRefusal, writeWhole } from '../system/user-files.ts';

interface Options {
  readonly json?: string;
}

export const compare = new CliCommand(
  'compare',
  'compare a tuned build of a model with builds of iree-compile: times, results, seconds of compiling',
)
  .argument('<model>', 'MLIR or ONNX file')
  .withFlags('<model>')
  .budget('time for tuning')
  .option('--json <file>', 'also write all values to a file')
  .examples(
    ['iree-tuned compare model.mlir', 'for this CPU'],
    ['iree-tuned --device local-sync compare model.onnx', 'on one thread'],
    ['iree-tuned compare model.mlir --json out.json -- --iree-llvmcpu-target-cpu=znver4', 'with flags'],
  )
  .action(compareModel);

/** Ends with 1 if tuned has no time, or other results. */
async function compareModel(model: string, { json }: Options, cli: CliCommand): Promise<void> {
  if (json !== undefined) checkFolder(json);
  const surroundings = cli.surroundings();
  const command = await readableCommand(model, cli.flags, surroundings);
  if (command.whyUntouched !== null)
    throw new UserError(`${model}: leave out flags that no tuned build has: ${command.whyUntouched.reason}`);
  const site = await describeSite(command, surroundings);
  if (isReason(site)) throw new PassedThroughError(model, site);
  const tools = measuringToolsAt({ command, site }, surroundings);
  const display = lineDisplay();
  const comparison = await compareBuilds(
    {
      ...{ command, site, tools, surroundings, wrapper: join(packageRoot, 'bin', 'iree-compile-tuned') },
      env: cli.variables({ compiler: command.compiler.invokedAs, disable: 'false' }),
    },
    (step) => {
      display.show(`iree-tuned: ${model}: ${step} ...`);
    },
  )
    .catch(named(model))
    .finally(display.clear);
  console.log(textOf(model, site, comparison));
  if (json !== undefined)
    writeWhole(json, `${JSON.stringify(valuesOf(model, command, site, comparison), null, 2)}\n`);
  const isTimed = comparison.builds.at(-1)!.error === null;
  if (!isTimed || resultsOf(comparison).equal === false) process.exitCode = 1;
}

/** Before the work of minutes. @throws UserError for a folder that cannot be written */
function checkFolder(file: string): void {
  const folder = dirname(resolve(file));
  orRefusal(`--json ${file}: ${folder} cannot be written`, () => {
    accessSync(folder, constants.W_OK);
  });
}

function textOf(model: string, { device }: Site, comparison: Comparison): string {
  const { driver, threads } = device;
  const rounds = counted(comparison.rounds, 'round');
  return [
    sentences(`${model} on ${device.model}, ${driver}, ${counted(threads, 'thread')}; ${rounds}`),
    table(HEADER, rowsOf(comparison), page),
    sentences(...notesOf(comparison), sentenceOf(comparison)),
  ].join('\n');
}

const valuesOf = (model: string, { argv }: Command, site: Site, comparison: Comparison) => ({
  ...{ version: 1, date: new Date().toISOString(), model, command: argv },
  ...{ compiler: site.compiler, target: site.target.key, device: site.device },
  ...comparison,
  sentence: sentenceOf(comparison),
});
