// Everything about tuning that is not compiling: tune ahead, look into the database, find out what is wrong.
import { loadBackends } from '../backend/index.ts';
import { Argument, Command as Program, CommanderError, Option } from 'commander';
import { printCompletions, SHELLS } from './completions.ts';
import { readCount, showBuilds } from './builds.ts';
import { showCache } from './cache.ts';
import { showConfig } from './config.ts';
import { showDevices } from './devices.ts';
import { doctor } from './doctor.ts';
import { exportDatabase } from './export.ts';
import { explainInput } from './explain.ts';
import { exitCodeOf, messageForUser, USAGE_EXIT_CODE } from './failure.ts';
import { withFilters } from './filters.ts';
import { addHelp } from './help.ts';
import { importFiles, mergeDatabases } from './import.ts';
import { populateDatabase } from './populate.ts';
import { profileInput } from './profile.ts';
import { findRegressions } from './regressions.ts';
import { pruneDatabase } from './prune.ts';
import { listRecords, showRecord } from './records.ts';
import { installShims } from './install-shim.ts';
import { lift } from './lift.ts';
import { lockInputs } from './lock.ts';
import { page, warn } from './output.ts';
import { writeReport } from './report.ts';
import { restore, revoke } from './revoke.ts';
import { writeSpec } from './spec.ts';
import { packageVersion } from '../system/package-root.ts';
import { showStats } from './stats.ts';
import { sync } from './sync.ts';
import { distrust, migrate, roles, status, trust } from './team.ts';
import { STRATEGIES } from '../search/index.ts';
import { showTrials } from './trials.ts';
import { tuneInput } from './tune.ts';
import { verify } from './verify.ts';

/** All that can be typed. */
export const program = new Program('iree-tuned')
  .description('Tunes matmuls for iree-compile-tuned and looks after the tuning database.')
  .version(packageVersion(), '--version')
  .configureHelp({ minWidthToWrap: 20, styleTitle: (title) => page.paint('bold', title) })
  .configureOutput({
    outputError: (message) => {
      warn(message.replace(/^error: /, '').trimEnd());
    },
  })
  .exitOverride()
  .option('--db <path>', 'tuning database (default: IREE_TUNED_DB, else the user data directory)')
  .option(
    '--compiler <path>',
    'the real iree-compile (default: IREE_TUNED_COMPILER, else it is searched for)',
  )
  .option(
    '--device <device>',
    "runtime device to measure on (default: IREE_TUNED_DEVICE, else the target's own, such as local-task)",
  )
  .option('--team <url>', "postgres:// URL of the team's server (default: IREE_TUNED_TEAM)");

program
  .command('tune')
  .description('tune every contraction of an input and keep the result, without compiling the input')
  .argument('<input>', 'MLIR file')
  .argument('[flags...]', "the compiler's own flags, after --")
  .option('--budget <seconds>', 'time to spend on all of them together (default: IREE_TUNED_BUDGET, else 60)')
  .addOption(
    new Option('--strategy <name>', 'how to search').choices(Object.keys(STRATEGIES)).default('guided'),
  )
  .option('--trials <count>', 'configurations to try per contraction', '160')
  .option('--search-space <file>', 'JSON: try only these values of these knobs, such as {"vector_m": [4, 8]}')
  .option('--again', 'tune even where there is a record')
  .option('--verify-program', 'run the whole program too, and leave out what makes it slower or wrong')
  .option('--json', 'print the result as JSON')
  .action(tuneInput);
const several = (value: string, before: readonly string[] = []) => [...before, value];
program
  .command('populate')
  .description(
    'tune ahead of any build: models, lists and sweeps of shapes, and what builds have missed; the same command goes on where it was ended',
  )
  .argument('[inputs...]', 'models, MLIR or ONNX: files, folders or patterns')
  .option('--shapes <file>', 'list of shapes, CSV or JSON; may be given several times', several)
  .option(
    '--op <names>',
    'a sweep: matmul, batch_matmul, these with _transpose_a or _transpose_b, softmax, attention',
  )
  .option(
    '--m <sizes>',
    'rows: 512, a list such as 256,512, or FROM:END:STEP without END, such as 64:1024:64',
  )
  .option('--n <sizes>', 'columns')
  .option('--k <sizes>', 'what is summed over')
  .option('--batch <sizes>', 'batches, for all but matmul')
  .option('--dtype <types>', 'element types: f32,f16,..., or as i8xi8xi32 for lhs, rhs and sums')
  .option('--rhs-constant <which>', 'whether the right-hand side is a weight of the program: yes, no or both')
  .option('--from-misses', 'what builds with on-miss=record have noted')
  .option('--config <file>', "a settings file of IREE's auto-scheduler, run and reported as that does")
  .option('--keep <dir>', 'with --config: leave every candidate there as MLIR, and what came of them as CSV')
  .option('--search-space <file>', 'JSON: try only these values of these knobs')
  .option(
    '--flags <flags>',
    "more of the compiler's flags, for one more target; may be given several times",
    several,
  )
  .option('--budget <time>', 'for everything: seconds, or 15m or 8h (default: until every search is over)')
  .option('--jobs <count>', 'how many are compiled at once; timing is always alone')
  .option('--fleet', "have the team's workers do it, and follow them: see iree-tuned worker")
  .option('--dry-run', 'print what would be done, in which order, and how long it is likely to take')
  .option('--json', 'print as JSON')
  .usage("[inputs...] [options] [-- the compiler's own flags]")
  .action(populateDatabase);
program
  .command('profile')
  .description(
    'say how fast the operations of an input, or of a sweep of shapes, are by default and at best, as dispatch profilers do',
  )
  .argument('[input...]', 'MLIR file')
  .option('--op <names>', 'a sweep: matmul, batch_matmul, and these with _transpose_a or _transpose_b')
  .option(
    '--m <sizes>',
    'rows: 512, a list such as 256,512, or FROM:END:STEP without END, such as 64:1024:64',
  )
  .option('--n <sizes>', 'columns')
  .option('--k <sizes>', 'what is summed over')
  .option('--batch <sizes>', 'batches, for batch_matmul')
  .option('--dtype <types>', 'element types: f32,f16,..., or as i8xi8xi32 for lhs, rhs and sums')
  .option('--rhs-constant <which>', 'whether the right-hand side is a weight: yes, no (the default) or both')
  .option('--dispatches <patterns>', 'only those whose names have these parts: matmul_512*dist_64x, ...')
  .option('--all', 'everything that was tried, not only the default and the best')
  .option('--output <file>', 'write a CSV, and beside it run.log')
  .option('--append', 'append to the CSV')
  .option('--tags <tags>', 'columns in front of all others: NAME:VALUE, ...')
  .option('--keep <dir>', 'leave every candidate there as MLIR, and what came of them as CSV')
  .option('--budget <seconds>', 'time to spend on all of them together (default: IREE_TUNED_BUDGET, else 60)')
  .addOption(
    new Option('--strategy <name>', 'how to search').choices(Object.keys(STRATEGIES)).default('guided'),
  )
  .option('--trials <count>', 'configurations to try per contraction', '160')
  .option('--search-space <file>', 'JSON: try only these values of these knobs')
  .option('--again', 'measure even where there is a record')
  .option('--json', 'print as JSON')
  .usage("[input] [options] [-- the compiler's own flags]")
  .action(profileInput);
program
  .command('explain')
  .description('show what a build of an input gets, operation by operation, and whether it lands')
  .argument('<input>', 'MLIR file')
  .argument('[flags...]', "the compiler's own flags, after --")
  .option('--json', 'print as JSON')
  .action(explainInput);
withFilters(program.command('records'))
  .description('list what is in the database')
  .argument('[filter]', 'only workloads, targets or devices that contain this text')
  .option('--json', 'print as JSON')
  .action(listRecords);
withFilters(program.command('show'), ['target', 'compiler', 'device'])
  .description('show one record with its evidence and trials')
  .argument('<workload>', "a workload's key or a part of it that only one record has")
  .option('--all', 'all trials, not only the best')
  .option('--json', 'print as JSON')
  .action(showRecord);
withFilters(program.command('trials'), ['target', 'compiler', 'device'])
  .description('show everything that was tried for a workload, each knob a column')
  .argument('<workload>', "a workload's key or a part of it that only one record has")
  .option('--csv', 'print as CSV')
  .option('--json', 'print as JSON')
  .action(showTrials);
withFilters(program.command('verify'), ['workload'])
  .description('measure records of this machine again and show drift; a record that is lost is replaced')
  .argument('[flags...]', "the compiler's own flags, after --: for the target that they name")
  .option('--budget <seconds>', 'time to spend on all of them together (default: IREE_TUNED_BUDGET, else 60)')
  .option('--json', 'print as JSON')
  .action(verify);
withFilters(program.command('regressions'), ['workload'])
  .description(
    "list where a compiler's own default became slower than another compiler's, the greatest loss first",
  )
  .argument('<old>', 'a compiler: its path, or a part of its key that only one compiler with records has')
  .argument('<new>', 'the other one')
  .argument('[flags...]', "the compiler's own flags, after --: for the target that they name")
  .option('--measure', 'compile and time both defaults now, for the workloads of the database')
  .option(
    '--budget <seconds>',
    'time to measure, for all of them together (default: IREE_TUNED_BUDGET, else 60)',
  )
  .option('--json', 'print as JSON')
  .action(findRegressions);
withFilters(program.command('export'))
  .description('write what the database knows into a file that others import: JSON lines, sorted')
  .argument('<file>', 'where to write it; - for stdout')
  .option('--sqlite', 'write a SQLite database instead')
  .option('--json', 'print what was written as JSON')
  .action(exportDatabase);
program
  .command('import')
  .description(
    'merge files that iree-tuned export has written: the better evidence stays, whatever comes first',
  )
  .argument('<files...>', 'files of JSON lines; - for stdin')
  .option('--json', 'print what came of them as JSON')
  .action(importFiles);
program
  .command('merge')
  .description('merge other SQLite databases, also of earlier versions; they are not changed')
  .argument('<databases...>', 'their paths')
  .option('--json', 'print what came of them as JSON')
  .action(mergeDatabases);
withFilters(program.command('prune'))
  .description(
    'say what old trials, or records of compilers and targets no longer in use, take up, and remove them',
  )
  .option('--trials-older-than <days>', 'trials, with what was timed, that were tried before that')
  .option('--records', 'the records that fit the filters')
  .option('--apply', 'remove it; without this nothing is changed. Marks and revocations always stay')
  .option('--json', 'print as JSON')
  .action(pruneDatabase);
program
  .command('devices')
  .description('list the devices that the database knows, or give one a name, for builds that are for it')
  .argument('[device]', 'a key or a part of it, a name, or a class (with --name: this machine when left out)')
  .option('--name <name>', 'call that device so; builds with for-device=<name> use its records')
  .option('--json', 'print as JSON')
  .action(showDevices);
program
  .command('stats')
  .description('how many compiles were tuned, and why the others were not')
  .option('--zero', 'begin to count anew')
  .option('--json', 'print as JSON')
  .action(showStats);
program
  .command('builds')
  .description('list the last builds of this cache folder: how each was tuned, and why not')
  .option('--last <n>', 'so many of them', readCount, 20)
  .option('--json', 'print as JSON')
  .action(showBuilds);
withFilters(program.command('report'))
  .description(
    'write one HTML page about the database: gains, records, rooflines, searches, builds, and what to do next',
  )
  .argument('[filter]', 'only workloads, targets or devices that contain this text')
  .option('-o, --output <file>', 'where to write it', 'report.html')
  .option('--bench <file>', 'what npm run bench:kernels -- --json has written: libraries and the peak')
  .option('--models <file>', 'what npm run bench:models -- --json has written: whole programs')
  .option('--json', 'print where it was written, and what is in it, as JSON')
  .action(writeReport);
program
  .command('config')
  .description('show every setting, where it comes from, and the files that were looked for')
  .option('--json', 'print as JSON')
  .action(showConfig);
program
  .command('cache')
  .description('show the output cache, from which repeated builds copy their output')
  .option('--clear', 'remove all outputs')
  .option('--json', 'print as JSON')
  .action(showCache);
program
  .command('doctor')
  .description('find compiler, runtime and database, and say what is wrong and how to mend it')
  .option('--json', 'print as JSON')
  .action(doctor);
program
  .command('install-shim')
  .description(
    'write a folder that can stand where the folder of iree-compile stood: iree-compile and the tools beside it',
  )
  .argument('<dir>', 'folder to write them into; made when it is not there')
  .option('--force', 'overwrite files of these names that are not ours')
  .option('--json', 'print what was written as JSON')
  .action(installShims);
program
  .command('lock')
  .description(
    'write what builds of these inputs get into a lock file, which is all that later builds need; without inputs, bring it up to date',
  )
  .argument('[inputs...]', 'MLIR files')
  .option('--check', 'write nothing, and end with 1 when the lock file is not what it would be')
  .option('--json', 'print as JSON')
  .usage("[inputs...] [options] [-- the compiler's own flags]")
  .action(lockInputs);
program
  .command('spec')
  .description(
    'write a tuning spec for an input from the records there are, for users of the compiler as a library',
  )
  .argument('<input>', 'MLIR file')
  .argument('[flags...]', "the compiler's own flags, after --")
  .option('-o, --output <file>', 'where to write it (default: stdout)')
  .option(
    '--json',
    'print decisions and flags as JSON instead of the spec; with -o everything that specs can bring is written, data tiling too',
  )
  .action(writeSpec);
program
  .command('sync')
  .description("exchange what is new with the team's server, and have builds ask it again at once")
  .argument('[flags...]', "the compiler's own flags, after --: for the target that they name, too")
  .option('--json', 'print as JSON')
  .action(sync);
program
  .command('revoke')
  .description('say that records are not to be read any more, here and in the team')
  .option('--record <digest>', 'one claim, by its digest')
  .option('--tool <version>', 'all that this version of iree-compile-tuned has written')
  .option('--origin <name>', "all of a user, of a machine, or of one's work on the other: user@machine")
  .requiredOption('--reason <text>', 'why, for those who wonder')
  .option('--json', 'print as JSON')
  .action(revoke);
program
  .command('restore')
  .description('take a revocation back, here and, for an administrator, in the team')
  .option('--record <digest>', 'of one claim, by its digest')
  .option('--tool <version>', 'of all that this version of iree-compile-tuned has written')
  .option('--origin <name>', "of all of a user, of a machine, or of one's work on the other: user@machine")
  .option('--json', 'print as JSON')
  .action(restore);
withFilters(program.command('lift'), ['target', 'compiler', 'device'])
  .description(
    'say that what configurations are marked for is mended, here and in the team: they count again',
  )
  .argument('<workload>', "a workload's key or a part of it: marks of all that it fits")
  .option('--configuration <key>', 'of this configuration only, as iree-tuned records shows it')
  .requiredOption('--reason <text>', 'why, for those who wonder')
  .option('--json', 'print as JSON')
  .action(lift);
program
  .command('worker')
  .description("tune on this machine what the team's builds want, until it is told to end")
  .argument('[flags...]', "the compiler's own flags, after --: for whose target it works (default: this CPU)")
  .option('--budget <seconds>', 'time to spend on each workload (default: IREE_TUNED_BUDGET, else 60)')
  .option('--drain <seconds>', 'what is under way may take so long to end when it is told to', '60')
  .option('--until-idle', 'end when there is nothing left to do')
  .option('--json', 'print what happens as JSON, a line each')
  .action(async (...args: [string[], { drain: string }, Program]) => {
    const { work } = await import('./worker.ts');
    await work(...args);
  });
program
  .command('fleet')
  .description('show who works for the team, what waits to be tuned, and what has failed too often')
  .option('--retry [id]', 'try what has failed too often again: one job, or all of them')
  .option('--json', 'print as JSON')
  .action(async (...args: [{ json?: boolean }, Program]) => {
    const { fleet } = await import('./fleet.ts');
    await fleet(...args);
  });
const team = program.command('team').description("look after a team's PostgreSQL server");
team
  .command('migrate')
  .description('make its tables and functions, or bring them up to date')
  .option('--json', 'print as JSON')
  .action(migrate);
team
  .command('roles')
  .description('print the SQL that makes the roles for readers, writers, workers and administrators')
  .option('--apply', 'run it instead')
  .option('--json', 'print as JSON')
  .action(roles);
team
  .command('status')
  .description('say which server it is, what it holds, and whether builds ask it')
  .option('--json', 'print as JSON')
  .action(status);
team
  .command('distrust')
  .description('forget all that a login has brought to the server, and take nothing from it any more')
  .argument('<login>', "the server's own name of it")
  .option('--json', 'print as JSON')
  .action(distrust);
team
  .command('trust')
  .description('take that back: what it knows is taken again')
  .argument('<login>', "the server's own name of it")
  .option('--json', 'print as JSON')
  .action(trust);
program
  .command('completions')
  .description('print what a shell needs to complete iree-tuned, and the flags of iree-compile-tuned')
  .addArgument(new Argument('<shell>', 'the shell that reads it').choices(SHELLS))
  .action(printCompletions);
addHelp(program);

/** Does what the command line says. Rejects with what is no message for people. */
export async function main(): Promise<void> {
  // A full disk, or a reader that has gone: console.log alone would pass over it.
  process.stdout.on('error', ({ message }) => {
    end(`the output cannot be written: ${message}`, 1);
  });
  try {
    // Commands read what is stored for any target.
    await loadBackends();
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : USAGE_EXIT_CODE);
    const message = messageForUser(error);
    if (message === null) throw error;
    end(message, exitCodeOf(error));
  }
}

function end(message: string, code: number): never {
  warn(message);
  process.exit(code);
}
