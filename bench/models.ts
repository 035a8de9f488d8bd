// Models of current architectures: their gains, and the share of their time that tuning covers.
import { exportModels } from './models/exported.ts';
import { readArguments, run, UsageError } from './shared/arguments.ts';
import { measurePrograms, PROGRAM_OPTIONS, PROGRAM_USAGE, programOptions } from './shared/programs.ts';

const USAGE = `usage: npm run bench:models -- [--only NAME,NAME] [--budget SECONDS] [--timing SECONDS] [--rounds N]
                            [--device DRIVER] [--folder FOLDER] [--json FILE]

  --only    these models (default: all)
${PROGRAM_USAGE}`;

await run('bench:models', async () => {
  const args = readArguments(['only', ...PROGRAM_OPTIONS], USAGE);
  if (args.positionals[0] !== undefined)
    throw new UsageError(`${args.positionals[0]}: models are named by --only; --help says more`);
  const options = programOptions(args);
  const models = await exportModels(args.options['only']?.split(',') ?? null);
  await measurePrograms('models', models, options);
});
