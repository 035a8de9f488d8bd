// `iree-tuned cache`
import { counted, formatBytes } from '../system/format.ts';
import { OUTPUTS_LIMIT, outputsIn, trim } from '../wrapper/outputs.ts';
import { CliCommand } from './command.ts';
import { surroundingsOf } from './context.ts';
import { sentences } from './output.ts';

export const cache = new CliCommand(
  'cache',
  'show the size and the limit of the output cache, which repeated builds copy from',
)
  .option('--clear', 'remove all outputs')
  .json()
  .examples(
    ['iree-tuned cache', 'number and size of the outputs'],
    ['iree-tuned cache --clear', 'remove all outputs'],
  )
  .action(({ clear = false }: { clear?: boolean }, command: CliCommand) => {
    const { cacheDirectory: folder, settings } = surroundingsOf(command);
    const before = outputsIn(folder);
    if (clear) trim(folder, 0);
    const { count, bytes } = outputsIn(folder);
    const size = `${formatBytes(bytes)} of ${formatBytes(OUTPUTS_LIMIT)}`;
    const removed = clear ? `; ${before.count - count} removed` : '';
    const off = settings.outputs ? '' : '; outputs=off: the cache is not used';
    command.print({ folder, kept: settings.outputs, outputs: count, bytes, limit: OUTPUTS_LIMIT }, () =>
      sentences(`${folder}: ${counted(count, 'output')}, ${size}${removed}${off}`),
    );
  });
