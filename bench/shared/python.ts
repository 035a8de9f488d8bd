// Python environments for the benchmarks, inside the checkout.
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { BenchError, say } from './arguments.ts';
import { lastLine, root } from './workplace.ts';

/**
 * The interpreter of an environment with the required packages. If the environment is missing or the requirements have changed, it is
 * installed.
 * @param folder name of the environment's folder in the checkout
 * @param requirements path of the file of requirements
 * @param what names of the packages, for people
 * @throws BenchError when the installation fails
 */
export async function openPython(folder: string, requirements: string, what: string): Promise<string> {
  const environment = join(root, folder);
  const python = join(environment, 'bin', 'python');
  // A copy of the installed requirements, to detect changes.
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
          'This needs Python with venv, new enough for these packages, and access to PyPI.',
      );
  }
  copyFileSync(requirements, stamp);
  return python;
}
