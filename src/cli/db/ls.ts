// `iree-tuned db ls`
import { configurationKey } from '../../backend/index.ts';
import { table } from '../../report/table.ts';
import { fits } from '../../store/filter.ts';
import { formatRatio, formatSeconds, shortKey } from '../../system/format.ts';
import { CliCommand } from '../command.ts';
import { openToRead, surroundingsOf } from '../context.ts';
import { page, sentences } from '../output.ts';
import { contains, filterText } from './records.ts';

export const ls = new CliCommand('ls', 'list the records, newest first')
  .argument('[text]', 'only records whose workload, target or device contains the text')
  .filters()
  .json()
  .examples(
    ['iree-tuned db ls', 'all records'],
    ['iree-tuned db ls m=512', 'records with this text in their keys'],
    ['iree-tuned db ls --with-compiler 3.13 --json', 'records of one compiler, for scripts'],
  )
  .action(async (text: string | undefined, _, command: CliCommand) => {
    const surroundings = surroundingsOf(command);
    const { filter } = command;
    const store = await openToRead(surroundings);
    const records = store.allRecords().filter((record) => fits(record, filter) && contains(record, text));
    store.close();
    command.print(records, () =>
      records.length === 0
        ? sentences(`No records${filterText(filter, text)} in ${surroundings.settings.database}.`)
        : table(
            ['workload', 'gain', 'default', 'tuned', 'configuration', 'device'],
            records.map(({ workload, failure, evidence, configuration, device }) => [
              shortKey(workload),
              failure === null ? formatRatio(evidence.ratio) : 'failed',
              formatSeconds(evidence.defaultSeconds),
              formatSeconds(evidence.seconds),
              configurationKey(configuration),
              device,
            ]),
            page,
          ),
    );
  });
