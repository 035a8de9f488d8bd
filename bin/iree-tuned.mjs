// Starts the bundle of iree-tuned, or reports that it is broken.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';

const root = resolve(import.meta.dirname, '..');
const bundle = join(root, 'dist/current/iree-tuned.js');

function giveUp({ message }) {
  const [reason] = message.split('\n');
  // Only a clone can build.
  const remedy = existsSync(join(root, 'scripts/build.mjs'))
    ? `Run \`npm run build\` in ${root}.`
    : 'Install iree-compile-tuned again.';
  process.stderr.write(`iree-tuned: ${bundle} is broken: ${reason}\n${remedy}\n`);
  process.exit(1);
}

const { main } = await import('../dist/current/iree-tuned.js').catch(giveUp);
await main().catch((error) => {
  // A missing chunk fails later, when a command loads it.
  if (String(error.code).endsWith('MODULE_NOT_FOUND')) giveUp(error);
  throw error;
});
