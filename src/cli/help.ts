// What --help says beside what the commands are declared with: what is often typed (a test parses each), and exit codes.
import type { Command as Program } from 'commander';
import { page } from './output.ts';

/** Command lines, and what they are for. */
type Examples = readonly (readonly [command: string, about: string])[];

export const EXAMPLES: Readonly<Record<string, Examples>> = {
  '': [
    ['iree-tuned tune model.mlir --budget 300', 'ahead of the build'],
    ['iree-tuned explain model.mlir', 'what a build of it gets, and why'],
    ['iree-tuned doctor', 'what is missing, and how to mend it'],
  ],
  tune: [
    ['iree-tuned tune model.mlir --budget 300', 'five minutes for all of it'],
    ['iree-tuned tune model.mlir -- --iree-llvmcpu-target-cpu=znver4', 'for another CPU than this one'],
    ['iree-tuned tune model.onnx', 'what iree-import-onnx makes of it, which a build compiles'],
    ['iree-tuned tune model.mlir --verify-program', 'and run it whole, stock against tuned'],
  ],
  populate: [
    ['iree-tuned populate models/ --budget 8h', 'a night for all models in a folder, ONNX or MLIR'],
    ['iree-tuned populate --m 64:1024:64 --n 512,768 --k 768 --dry-run', 'what a sweep comes to'],
    ['iree-tuned populate --op softmax --batch 12 --m 197 --n 197', 'a sweep of softmax'],
    ['iree-tuned populate --from-misses', 'what builds had to do without'],
    ['iree-tuned populate --config auto-scheduler.cfg', "as IREE's auto-scheduler would"],
  ],
  profile: [
    ['iree-tuned profile model.mlir --output profile.csv', 'the default and the best of each operation'],
    ['iree-tuned profile --m 64:1024:128 --n 512 --k 512 --all', 'all that was tried of a sweep'],
    ['iree-tuned profile model.mlir --keep candidates', 'every candidate as a file'],
  ],
  explain: [
    ['iree-tuned explain model.mlir', 'for this CPU'],
    ['iree-tuned explain model.mlir --json -- --iree-llvmcpu-target-cpu=host', 'with flags of the build'],
  ],
  cache: [
    ['iree-tuned cache', 'number and size of its outputs'],
    ['iree-tuned cache --clear', 'remove all outputs'],
  ],
  records: [
    ['iree-tuned records', 'all of them, the newest first'],
    ['iree-tuned records m=512', 'those that have this in their keys'],
    ['iree-tuned records --compiler 3.13 --json', 'of one compiler, for scripts'],
  ],
  show: [
    ['iree-tuned show "m=512 n=512"', 'the record that has this in its key'],
    ['iree-tuned show m=997 --all', 'with every trial'],
  ],
  trials: [
    ['iree-tuned trials "m=512 n=512"', 'a table, the fastest first'],
    ['iree-tuned trials m=997 --csv > trials.csv', 'for other programs'],
  ],
  verify: [
    ['iree-tuned verify --budget 120', 'measure the records of this machine again, the oldest first'],
    ['iree-tuned verify --workload m=512 --json', 'of some workloads, for scripts'],
  ],
  regressions: [
    ['iree-tuned regressions 3.12 3.13', 'by what records say of both, on one device'],
    ['iree-tuned regressions old/iree-compile new/iree-compile --measure', 'timed now, in turns'],
  ],
  export: [
    ['iree-tuned export tuning.jsonl', 'everything'],
    ['iree-tuned export - --compiler 3.13 | gzip > tuning.jsonl.gz', 'a part of it, through a pipe'],
  ],
  import: [
    ['iree-tuned import tuning.jsonl', 'what iree-tuned export has written'],
    ['gunzip -c tuning.jsonl.gz | iree-tuned import -', 'from a pipe'],
  ],
  merge: [['iree-tuned merge ~/old/tuning.db', 'another database, which stays as it is']],
  prune: [
    ['iree-tuned prune --trials-older-than 90', 'what would go'],
    ['iree-tuned prune --records --compiler 3.11 --apply', 'remove records of an old compiler'],
  ],
  devices: [
    ['iree-tuned devices', 'all of them'],
    ['iree-tuned devices --name prod-zen4', 'call this machine so'],
  ],
  report: [
    ['iree-tuned report -o report.html', 'a page about the whole database'],
    ['iree-tuned report -o report.html --bench kernels.json', 'with libraries beside it'],
  ],
  stats: [
    ['iree-tuned stats', 'what all builds came to'],
    ['iree-tuned stats --zero', 'say it once more, and begin anew'],
  ],
  builds: [
    ['iree-tuned builds', 'the last twenty, with the reasons of what is not tuned'],
    ['iree-tuned builds --last 200 --json', 'for a script'],
  ],
  config: [['iree-tuned config', 'every setting, and where it comes from']],
  doctor: [['iree-tuned doctor', 'all that tuning needs']],
  'install-shim': [
    ['iree-tuned install-shim ~/iree-shim', 'then: export PATH=~/iree-shim:"$PATH"'],
    ['iree-tuned --compiler ~/iree/bin/iree-compile install-shim ~/shim', 'for another compiler'],
  ],
  lock: [
    ['iree-tuned lock model.mlir -- --iree-llvmcpu-target-cpu=znver4', 'write it'],
    ['iree-tuned lock', 'bring it up to date'],
    ['iree-tuned lock --check', 'for CI: 1 when it is not up to date'],
  ],
  spec: [['iree-tuned spec model.mlir -o spec.mlir', 'it says which flags to give the compiler']],
  sync: [
    ['iree-tuned sync', 'everything that is new, there and here'],
    ['iree-tuned sync -- --iree-llvmcpu-target-cpu=znver4', 'also for a target that is new here'],
  ],
  restore: [['iree-tuned restore --origin ada@build7', 'its work is read again']],
  revoke: [
    ['iree-tuned revoke --tool 0.1.0 --reason "it timed the wrong thing"', 'all of a version'],
    ['iree-tuned revoke --origin ada@build7 --reason "its fan was broken"', "somebody's work on one machine"],
  ],
  lift: [
    ["iree-tuned lift 'm=512 n=512 k=512' --reason 'the compiler was mended'", 'all of a workload'],
    ["iree-tuned lift m=512 --target znver4 --reason 'its fan was broken'", 'of one target'],
  ],
  worker: [
    ['iree-tuned worker --budget 120', 'for this CPU, as long as it runs'],
    ['iree-tuned worker --until-idle', 'what there is to do, and no more'],
  ],
  fleet: [
    ['iree-tuned fleet', 'who works, what waits, what has failed'],
    ['iree-tuned fleet --retry', 'all that has failed, once more'],
  ],
  team: [
    ['iree-tuned team roles --apply', 'first, as the superuser'],
    ['iree-tuned team migrate', 'then, and after each update'],
    ['iree-tuned team status', 'whether builds ask it'],
  ],
  'team migrate': [['iree-tuned team migrate', 'says the schema before and after']],
  'team roles': [
    ['iree-tuned team roles', 'to be read'],
    ['iree-tuned team roles --apply', 'as the superuser'],
  ],
  'team status': [
    ['iree-tuned team status', 'of the server that is set'],
    ['iree-tuned --team postgres://ada@tuning.example.com/tuning team status', 'of another one'],
  ],
  'team distrust': [['iree-tuned team distrust bob', 'all that it has brought is gone']],
  'team trust': [['iree-tuned team trust bob', 'it may tell again what it knows']],
  completions: [
    ['source <(iree-tuned completions bash)', 'in ~/.bashrc'],
    ['source <(iree-tuned completions zsh)', 'in ~/.zshrc, after compinit'],
    ['iree-tuned completions fish | source', 'in ~/.config/fish/config.fish'],
  ],
};

const EXIT_CODES = `Exit codes:
  0  it is done, and all is well
  1  it could not be done, or the answer is no: a check fails, something is missing or refused
  2  the command line or a setting is not understood; nothing was done`;

/** Puts the examples under the help of each command, and what the exit codes mean under that of the program. */
export function addHelp(command: Program, path: readonly string[] = []): void {
  const name = ['iree-tuned', ...path].join(' ');
  const end = path.length === 0 ? `\n\n${EXIT_CODES}` : '';
  command
    .showHelpAfterError(`(${name} --help says what there is)`)
    .addHelpText('after', `\nExamples:\n${described(EXAMPLES[path.join(' ')] ?? []).join('\n')}${end}`);
  for (const one of command.commands) addHelp(one, [...path, one.name()]);
}

/** What an example is for stands beside it, or above where there is no room for all of them. */
function described(examples: Examples): string[] {
  const width = Math.max(...examples.map(([command]) => command.length));
  const lines = examples.map(([command, about]) => `  ${command.padEnd(width)}  # ${about}`);
  const columns = Math.min(page.columns, 110);
  return lines.every(({ length }) => length <= columns)
    ? lines
    : examples.map(([command, about]) => `  # ${about}\n  ${command}`);
}
