// Inspects inputs with the real compiler, and counts its runs.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTunable } from '../../src/input/operation.ts';
import { withSurvey } from '../../src/input/operations.ts';
import { inspect } from '../../src/wrapper/inspect.ts';
import { spaceOptionsOf } from '../../src/decision/space-options.ts';
import { tunables } from '../../src/input/input.ts';
import { readCommand } from '../../src/compiler/command.ts';
import { type Surroundings } from '../../src/settings/surroundings.ts';
import { readSettings } from '../../src/settings/index.ts';
import { parseSizes } from '../../src/settings/wanted-sizes.ts';
import { isReason } from '../../src/system/reason.ts';
import { HOST_FLAGS } from '../../src/site/probe.ts';
import { giveAnswers } from './answers.ts';
import { temporaryDirectory } from './folders.ts';
import { rewritableKey } from '../../src/form/rewritable.ts';
import { compiler, root } from './real-tools.ts';
import { rememberingCompiler } from './remembering-compiler.ts';
import { program } from './scripts.ts';

/** Inspects an input repeatedly, and counts the compiler's runs on it. */
export function inspector(text: string, sizes = '') {
  const folder = temporaryDirectory();
  const [input, log, watched] = ['in.mlir', 'runs.log', 'iree-compile'].map((name) => join(folder, name));
  writeFileSync(input!, text);
  program(watched!, `echo "$*" >>'${log!}'\nexec '${rememberingCompiler}' "$@"`);
  const { settings } = readSettings({ HOME: folder }, new Map());
  const surroundings: Surroundings = {
    env: process.env,
    settings: { ...settings, device: 'local-sync', sizes: parseSizes(sizes)! },
    root,
    cacheDirectory: join(folder, 'cache'),
  };
  giveAnswers(surroundings.cacheDirectory, watched);
  return async (flags: readonly string[] = []) => {
    const argv = [...HOST_FLAGS, ...flags, input!, '-o', join(folder, 'out.vmfb')];
    const command = await readCommand(argv, { ...compiler, executable: watched! }, surroundings);
    const looked = await inspect(command, surroundings);
    if ('targets' in looked) throw new Error(looked.reason);
    const isLook = !isReason(looked) && looked.inspected.input.operations.length === 0;
    const found = isLook ? await withSurvey(looked, surroundings) : looked;
    const passed = isReason(found) ? found : null;
    const inspected = isReason(found) ? null : found.inspected;
    const operations = inspected?.input.operations ?? [];
    const runs = existsSync(log!) ? readFileSync(log!, 'utf8').split('\n') : [];
    writeFileSync(log!, '');
    return {
      isLook,
      pass: passed && passed.reason,
      surveyed: inspected?.input.surveyed === true,
      /** For each operation, its name and its workload, or the reason why it is skipped. */
      found:
        passed?.decisions.map((one) => [one.place.name, one.reason] as const) ??
        operations.map((one) => [one.place.name, isTunable(one) ? one.key : one.reason] as const),
      sites: operations.map(({ place }) => place.location ?? place.operation?.start),
      /** Operations that can have other forms. */
      rewritables: async () =>
        isReason(found)
          ? []
          : (await withSurvey(found, surroundings)).inspected.input.rewritables.map(rewritableKey),
      dataTiled:
        inspected === null
          ? []
          : tunables(inspected.input)
              .map(spaceOptionsOf(inspected.input, inspected.site, surroundings.settings))
              .map(({ wholeProgram }) => wholeProgram),
      /** Number of compiler runs on the input. */
      asked: runs.filter((run) => run.includes(input!)).length,
    };
  };
}
