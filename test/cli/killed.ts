// Kills a command in the middle of a write. KILLED_AT has the place: `file 2` is the second part of a file, `rows 700` the 700th
// statement that writes to a database.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import Database from 'better-sqlite3';

const [what, count] = (process.env['KILLED_AT'] ?? '').split(' ');
let left = Number(count);
const isNow = () => --left === 0;

if (what === 'file') {
  const { writeSync } = fs;
  const writeHalf = (descriptor: number, text: string) => {
    if (!isNow()) return writeSync(descriptor, text);
    writeSync(descriptor, text.slice(0, text.length / 2));
    return process.kill(process.pid, 'SIGKILL');
  };
  fs.writeSync = writeHalf as typeof writeSync;
  syncBuiltinESMExports();
}
if (what === 'rows') {
  const statement = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')) as Database.Statement;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the statement
  const { run } = statement;
  statement.run = function (...parameters) {
    if (isNow()) process.kill(process.pid, 'SIGKILL');
    return run.apply(this, parameters);
  };
}
