// `iree-tuned cache`
import { readInput } from '../input/text.ts';
import { forgetInput } from '../system/tidy.ts';
import { counted, formatBytes } from '../system/format.ts';
import { UserError } from '../system/user-error.ts';
import { OUTPUTS_LIMIT, outputsIn, trim } from '../wrapper/outputs.ts';
import { CliCommand } from './command.ts';
import { sentences } from './output.ts';

export const cache = new CliCommand(
  'cache',
  'show the size and the limit of the output cache, which repeated builds copy from',
)
  .option('--clear', 'remove all outputs')
  .option('--forget <input>', 'remove the plans, their states and the outputs of one input; records stay')
  .json()
  .examples(
    ['iree-tuned cache', 'number and size of the outputs'],
    ['iree-tuned cache --clear', 'remove all outputs'],
    ['iree-tuned cache --forget model.mlir', 'the next build of the model compiles and checks again'],
  )
  .action(async ({ clear = false, forget }: { clear?: boolean; forget?: string }, command: CliCommand) => {
    const { cacheDirectory: folder, settings } = command.surroundings();
    const forgotten = forget === undefined ? null : forgetInput(folder, await digestOf(forget, folder));
    const before = outputsIn(folder);
    if (clear) trim(folder, 0);
    const { count, bytes } = outputsIn(folder);
    const size = `${formatBytes(bytes)} of ${formatBytes(OUTPUTS_LIMIT)}`;
    const removed = clear ? `; ${before.count - count} removed` : '';
    const of =
      forgotten &&
      `; forgotten for ${forget!}: ${counted(forgotten.plans, 'plan')}, ${counted(forgotten.outputs, 'output')}`;
    const off = settings.outputs ? '' : '; outputs=off: the cache is not used';
    command.print(
      {
        folder,
        kept: settings.outputs,
        outputs: count,
        bytes,
        limit: OUTPUTS_LIMIT,
        ...(forgotten && { forgotten }),
      },
      () => sentences(`${folder}: ${counted(count, 'output')}, ${size}${removed}${of ?? ''}${off}`),
    );
  });

/** The digest of an input in its memories. */
async function digestOf(input: string, cacheDirectory: string): Promise<string> {
  const text = await readInput(input, cacheDirectory);
  if (text === null)
    throw new UserError(`${input}: the text without weights is too large, so builds remember nothing`);
  return text.digest;
}
