// Python environments of the benchmarks' own, inside the checkout.
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { BenchError, say } from './arguments.ts';
import { lastLine, root } from './workplace.ts';

/**
 * The interpreter of an environment that has what a file of requirements asks for; installed where it is missing, or when
 * the requirements have changed.
 * @param folder name of the environment's folder, in the checkout
 * @param requirements path of the file
 * @param what names what is installed, for people
 * @throws BenchError when that fails
 */
export async function openPython(folder: string, requirements: string, what: string): Promise<string> {
  const environment = join(root, folder);
  const python = join(environment, 'bin', 'python');
  // A copy of what was installed: so changed requirements are noticed.
  const stamp = join(environment, '.installed-requirements.txt');
  const isInstalled =
    existsSync(python) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === readFileSync(requirements, 'utf8');
  if (isInstalled) return python;
  say(`Installing ${what} from PyPI into ${basename(environment)} ...`);
  const commands: [string, string[]][] = [
    ['python3', ['-m', 'venv', '--clear', environment]],
    [python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]],
  ];
  for (const [file, argv] of commands) {
    const result = await execa(file, argv, { reject: false, stdin: 'ignore' });
    if (result.exitCode !== 0)
      throw new BenchError(
        `${what} could not be installed: \`${[file, ...argv].join(' ')}\` failed: ${lastLine(result)}\n` +
          'It takes Python with venv, new enough for these packages, and access to PyPI.',
      );
  }
  copyFileSync(requirements, stamp);
  return python;
}
