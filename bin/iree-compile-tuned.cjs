'use strict';
// Starts the bundle of the drop-in. If the bundle does not load, or fails before it finds the compiler, this process becomes the
// launcher again, which runs the real compiler.
const { join } = require('node:path');
const process = require('node:process');

try {
  // Follows the link once, so that later chunks come from the same build.
  require('../dist/current/iree-compile-tuned.cjs').main().catch(runOriginal);
} catch (error) {
  runOriginal(error);
}

function runOriginal(error) {
  const [reason] = String(error?.message ?? error).split('\n');
  const told = `--iree-tuned-original=${reason.replace(/[^ -~]/g, '?')}`;
  // Node ignores these signals, and the compiler would inherit that. A listener restores the default for the next program.
  for (const signal of ['SIGPIPE', 'SIGXFSZ']) process.on(signal, () => undefined);
  const launcher = join(module.path, 'iree-compile-tuned');
  process.execve('/bin/sh', ['sh', launcher, told, ...process.argv.slice(2)], process.env);
}
