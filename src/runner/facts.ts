// Facts about another machine's processor: copies of its system's files, below a folder here, and the name of its architecture.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startChild } from '../system/child.ts';
import { afterSeconds } from '../system/limits.ts';
import { pinned } from './address.ts';
import { factsFolder, type Runner } from './runner.ts';
import { shellCommand, unreachable } from './shell.ts';

/** Begins the text of each file; the path follows. */
const FILE = 'iree-tuned-file:';

/**
 * Prints the files that `system/processor.ts` reads, and the architecture. Of the processors that the setting chooses, the first one takes the place of
 * processor 0, because a board's processors differ.
 */
const script = (
  cpus: string | null,
): string => `file() { [ ! -r "$1" ] || { echo "${FILE}\${2-$1}"; cat "$1"; }; }
cpus=/sys/devices/system/cpu
allowed=$(${pinned(cpus).concat('sed').join(' ')} -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
first=\${allowed%%[,-]*}
echo "${FILE}/proc/self/status"
echo "Cpus_allowed_list:	$allowed"
${cpus === null ? 'info=' : String.raw`info=$(sed -n "/^processor[[:space:]]*: $first\$/,/^\$/p" /proc/cpuinfo)`}
echo "${FILE}/proc/cpuinfo"
echo "\${info:-$(cat /proc/cpuinfo)}"
for f in $cpus/online /sys/devices/system/node/online /sys/devices/system/node/node*/cpulist $cpus/cpu*/topology/thread_siblings_list; do
  file "$f"
done
file $cpus/cpu$first/cpufreq/scaling_governor $cpus/cpu0/cpufreq/scaling_governor
for index in $cpus/cpu$first/cache/index*; do
  for name in level size type shared_cpu_list; do
    file "$index/$name" "$cpus/cpu0/cache/\${index##*/}/$name"
  done
done
echo "${FILE}/machine"
uname -m`;

const TIMEOUT_SECONDS = 30;

/** Asks the machine, and keeps the answer. @returns why it does not answer; null if it does */
export async function askFacts(runner: Runner): Promise<string | null> {
  const { text, address, cpus, folder } = runner;
  const [program, ...argv] = shellCommand(address, folder, script(cpus));
  const { stdout, stderr } = await startChild(program!, argv, {
    ...{ env: process.env, group: 'own', stdin: 'ignore', output: 'pipe' },
    limits: [afterSeconds(TIMEOUT_SECONDS)],
  }).ended;
  const files = filesIn(stdout.toString());
  if (!files.has('/machine')) {
    if (address.kind !== 'command') return unreachable(text, address, stderr.toString());
    // A program without a shell of its own, such as an emulator, describes nothing. Its records are its own.
    files.set('/machine', '').set('/proc/cpuinfo', `model name : ${text}\n`);
  }
  const root = factsFolder(runner);
  rmSync(root, { recursive: true, force: true });
  for (const [path, content] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(root, path), content);
  }
  return null;
}

/** Paths of the answer; others are ignored, because the machine is not trusted with paths here. */
const EXPECTED = /^\/(?:machine|proc\/(?:cpuinfo|self\/status)|sys\/devices\/system\/(?:cpu|node)\/[\w/]+)$/;

function filesIn(answer: string): Map<string, string> {
  const [, ...parts] = answer.split(FILE);
  return new Map(
    parts.flatMap((part) => {
      const end = part.indexOf('\n');
      const path = part.slice(0, end);
      return EXPECTED.test(path) ? [[path, part.slice(end + 1)] as const] : [];
    }),
  );
}
