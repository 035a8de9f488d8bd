// `iree-tuned cache`: size of the output cache.
import type { Command as Program } from 'commander';
import { formatBytes } from '../system/format.ts';
import { OUTPUTS_LIMIT, outputsIn, trim } from '../wrapper/outputs.ts';
import { surroundingsOf } from './context.ts';
import { say } from './output.ts';

export function showCache(options: { clear?: boolean; json?: boolean }, program: Program): void {
  const { cacheDirectory: folder, settings } = surroundingsOf(program);
  const before = outputsIn(folder);
  if (options.clear === true) trim(folder, 0);
  const { count, bytes } = outputsIn(folder);
  if (options.json === true) {
    const about = { folder, kept: settings.outputs, outputs: count, bytes, limit: OUTPUTS_LIMIT };
    console.log(JSON.stringify(about, null, 2));
    return;
  }
  const what = `${count} ${count === 1 ? 'output' : 'outputs'}, ${formatBytes(bytes)} of ${formatBytes(OUTPUTS_LIMIT)}`;
  const removed = options.clear === true ? `; ${before.count - count} removed` : '';
  say(`${folder}: ${what}${removed}${settings.outputs ? '' : '; outputs=off: none are kept or used'}`);
}
