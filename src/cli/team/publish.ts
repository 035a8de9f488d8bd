// `iree-tuned team publish` and `team key`
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import type { InvalidArgumentError } from 'commander';
import { publish, rollBack, type Report } from '../../base/publish.ts';
import { submitMisses } from '../../fleet/misses.ts';
import { table } from '../../report/table.ts';
import { counted } from '../../system/format.ts';
import { resultOr } from '../../system/result-or.ts';
import { UserError } from '../../system/user-error.ts';
import { CliCommand, several, wholeNumber } from '../command.ts';
import { isThere } from '../database.ts';
import { UsageError } from '../failure.ts';
import { orRefusal, readText } from '../../system/user-files.ts';
import { page, sentences, warn } from '../output.ts';
import { fleetDatabase, requireOwnDatabase } from './server.ts';

interface Options {
  readonly key?: string;
  readonly withoutCompiler?: readonly string[];
  readonly rollback?: string | true;
  readonly dryRun?: boolean;
}

export const publishCommand = new CliCommand(
  'publish',
  'merge the database, more files and the inbox into the base in a folder, for all builds whose setting "team" names it; submit misses to the fleet',
)
  .argument('<folder>', 'the folder of the base; it need not exist')
  .argument('[files...]', 'more databases, and files of iree-tuned db export')
  .option('--key <file>', 'sign with the private key of iree-tuned team key')
  .option('--without-compiler <text>', 'leave out compilers whose key contains the text', several)
  .option('--rollback [number]', 'publish an earlier state again; by default the last different one')
  .option('--dry-run', 'write nothing')
  .json()
  .examples(
    ['iree-tuned team publish /mnt/share/tuned', 'the database of the settings, and the inbox'],
    [
      'iree-tuned team publish site --key team.key',
      'signed, for a web server that gets a copy of the folder',
    ],
    ['iree-tuned team publish /mnt/share/tuned --rollback', 'the state before'],
  )
  .action(async (folder: string, files: readonly string[], options: Options, command: CliCommand) => {
    const surroundings = command.surroundings();
    const key = options.key === undefined ? null : readKey(options.key);
    const { rollback, dryRun: isDry = false, withoutCompiler: withoutCompilers = [] } = options;
    if (rollback !== undefined) {
      if (files.length > 0 || isDry || withoutCompilers.length > 0)
        throw new UsageError('team publish --rollback: it takes a folder and --key only');
      const wanted = rollback === true ? null : numberOf(rollback);
      const { from, sequence } = await rollBack(folder, wanted, key);
      command.print({ from, sequence }, () =>
        sentences(
          `${folder} has the databases of number ${from} again, under the number ${sequence}.`,
          'The next publication merges the database here again: revoke wrong records in it first (iree-tuned db revoke).',
        ),
      );
      return;
    }
    requireOwnDatabase(surroundings);
    const { cacheDirectory, settings } = surroundings;
    const own = isThere(surroundings) ? [settings.database] : [];
    const report = await publish({
      ...{ folder, cacheDirectory, files: [...own, ...files], key, withoutCompilers, isDry },
    });
    for (const { file, reason } of report.refused) warn(`refused: ${file}: ${reason}`);
    for (const { from, refused, problems } of report.imported)
      if (refused > 0) warn(`${from}: ${counted(refused, 'line')} refused, such as ${problems[0]!}`);
    if (report.refused.length > 0) process.exitCode = 1;
    using fleet = settings.fleet === undefined || isDry ? null : fleetDatabase(surroundings);
    const submitted = fleet === null ? 0 : await submitMisses(folder, fleet, settings.author);
    command.print({ ...report, submitted }, () =>
      [
        described(folder, report, isDry),
        ...(submitted === 0 ? [] : [`Submitted ${counted(submitted, 'miss', 'misses')} to the fleet.`]),
      ].join('\n'),
    );
  });

function numberOf(text: string): number {
  try {
    return wholeNumber(text);
  } catch (error) {
    throw new UsageError(`team publish --rollback: ${(error as InvalidArgumentError).message}`);
  }
}

function described(folder: string, { sequence, isNew, databases, imported }: Report, isDry: boolean): string {
  const rows = databases.map(({ target, compiler, claims, claimsBefore, bytes }) => [
    ...[target, compiler, String(claims), signed(claims - claimsBefore), String(bytes)],
  ]);
  return [
    ...(rows.length === 0
      ? []
      : [table(['target', 'compiler', 'claims', 'change', 'bytes'], rows, page), '']),
    sentences(
      `Merged ${counted(imported.length, 'file')}.`,
      isDry
        ? `${folder} ${isNew ? 'would change' : 'would not change'}.`
        : isNew
          ? `${folder} has the number ${sequence} now.`
          : `${folder} has everything already.`,
    ),
  ].join('\n');
}

const signed = (change: number): string => (change > 0 ? `+${change}` : String(change));

export const key = new CliCommand(
  'key',
  'make a key that signs bases, and print its public part for the setting "team-key"',
)
  .argument('<file>', 'file of the private key; an existing one stays')
  .examples(['iree-tuned team key team.key', 'once, at the place that publishes'])
  .action((file: string) => {
    if (!existsSync(file)) {
      const { privateKey } = generateKeyPairSync('ed25519');
      orRefusal(`${file} cannot be written`, () => {
        writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
      });
    }
    console.log(createPublicKey(readKey(file)).export({ type: 'spki', format: 'der' }).toString('base64'));
  });

/** @throws UserError for another file than a private Ed25519 key */
function readKey(file: string): KeyObject {
  const text = readText(file);
  const read = resultOr(() => createPrivateKey(text), null);
  if (read?.asymmetricKeyType === 'ed25519') return read;
  throw new UserError(`${file} is no private Ed25519 key: iree-tuned team key makes one`);
}
