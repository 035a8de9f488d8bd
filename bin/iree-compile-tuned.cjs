'use strict';
// Starts the drop-in's bundle. When that cannot be loaded, or fails before it has found the compiler, this process becomes
// the launcher again, which runs the real compiler.
const { join } = require('node:path');
const process = require('node:process');

try {
  // The link is followed once: what is loaded later is of the same build.
  require('../dist/current/iree-compile-tuned.cjs').main().catch(runOriginal);
} catch (error) {
  runOriginal(error);
}

function runOriginal(error) {
  const [reason] = String(error?.message ?? error).split('\n');
  const told = `--iree-tuned-original=${reason.replace(/[^ -~]/g, '?')}`;
  // Node ignores them, and so would the compiler. With a listener they are back to their default in what comes next.
  for (const signal of ['SIGPIPE', 'SIGXFSZ']) process.on(signal, () => undefined);
  const launcher = join(module.path, 'iree-compile-tuned');
  process.execve('/bin/sh', ['sh', launcher, told, ...process.argv.slice(2)], process.env);
}
