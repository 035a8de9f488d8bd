import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import {
  informationalFlags,
  loadOptionTable,
  parseHelp,
  probeArguments,
  tableOf,
  unclaimedProbes,
} from '../../src/compiler/options.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isFull } from '../support/needs.ts';
import { compile, realCompiler } from './support.ts';
import { program } from '../support/scripts.ts';

const help = `OVERVIEW: a compiler

USAGE: iree-compile [options] <input file or '-' for stdin>

OPTIONS:

Color Options:

  --color                        - Use colors in output (default=autodetect)
  --iree-cuda-target=<string>    - CUDA target, see --not-a-flag=<string>
  --spaced=<file name for it>    - A file
  --maybe[=<string>]             - Optional
  --choice                       - Printed twice
  --choice=<value>               - Printed twice
    =one                         -   One
    =--two                       -   Looks like a flag
  --single=<value>               - A choice printed once
    =none                        -   None
  --pass=<pass-arg>              - A pass
  Mode of the pass
      --literal                  - A choice without a name
  -h                             - Alias for --help
  --help                         - Display options
  --other-name                   - alias for -text
  -o <filename>                  - Output filename
  -debug-counter                 - Prints itself in its own way
                                   --indented text of a description
`;

test('the help has flags, flags with a value, and flags that only a probe tells', () => {
  const { flags, values, uncertain, choices } = parseHelp(help);
  // An optional value needs `=`, as for a flag that is printed twice.
  expect([...flags].sort()).toEqual(['choice', 'color', 'h', 'help', 'literal', 'maybe']);
  expect([...values]).toEqual(['iree-cuda-target', 'spaced', 'o']);
  expect([...uncertain]).toEqual(['single', 'pass', 'other-name']);
  expect([...choices]).toEqual(['choice', 'single']);
});

describe('the probe', () => {
  it('puts an unknown flag after each name and one more at the end', () => {
    expect(probeArguments(['a', 'long'])).toEqual([
      '-a',
      '--iree-tuned-probe-0',
      '--long',
      '--iree-tuned-probe-1',
      '--iree-tuned-probe-2',
    ]);
  });
  it('reads the probes that no flag took', () => {
    const stderr =
      "x: Unknown command line argument '--iree-tuned-probe-3'.  Try: 'x --help'\n" +
      "x: for the --n option: '--iree-tuned-probe-4' value invalid for uint argument!\n";
    expect([...unclaimedProbes(stderr)]).toEqual([3]);
  });
});

describe('the table', () => {
  it('knows the given names only', () => {
    const table = tableOf(['f'], ['v', 'c'], ['c', 'f']);
    const kinds = ['flag', 'value', 'choice', undefined, undefined];
    expect(['f', 'v', 'c', 'x', ''].map((name) => table(name))).toEqual(kinds);
  });

  it('is asked once and then read from the cache', async () => {
    const directory = temporaryDirectory();
    const count = join(directory, 'count');
    const compiler = program(
      join(directory, 'iree-compile'),
      `echo x >>${count}; case $1 in --help-hidden) printf '  --text=<string> - x\\n  --color - x\\n' ;; esac`,
    );
    const cache = join(directory, 'cache');
    const first = await loadOptionTable(compiler, cache);
    const second = await loadOptionTable(compiler, cache);
    for (const table of [first, second]) {
      expect([table('text'), table('color'), table('x')]).toEqual(['value', 'flag', undefined]);
    }
    expect(readFileSync(count, 'utf8')).toBe('x\n');
  });

  it('is made again if the cache is damaged', async () => {
    const directory = temporaryDirectory();
    const compiler = program(join(directory, 'iree-compile'), "printf '  --text=<string> - x\\n'");
    await loadOptionTable(compiler, directory);
    const [file] = readdirSync(directory).filter((name) => name.endsWith('.json'));
    for (const text of [
      '',
      '{',
      'null',
      '{"identity":1}',
      '{"identity":"other","flags":"text","values":"","choices":""}',
    ]) {
      writeFileSync(join(directory, file!), text);
      expect((await loadOptionTable(compiler, directory))('text')).toBe('value');
    }
  });

  it('omits uncertain flags if the probe ends early', async () => {
    const directory = temporaryDirectory();
    const compiler = program(
      join(directory, 'iree-compile'),
      "printf '  --text=<string> - x\\n  --choice=<value> - x\\n'",
    );
    const table = await loadOptionTable(compiler, directory);
    expect([table('text'), table('choice')]).toEqual(['value', undefined]);
  });

  it('is empty for a compiler that fails or prints nothing', async () => {
    const directory = temporaryDirectory();
    const silent = program(join(directory, 'silent'), 'exit 3');
    for (const compiler of [join(directory, 'nowhere'), silent]) {
      expect((await loadOptionTable(compiler, directory))('help')).toBeUndefined();
    }
    expect(readdirSync(directory)).toEqual(['silent']);
  });
});

describe.skipIf(realCompiler === null)('the table of the real compiler', { tags: ['compiler'] }, async () => {
  if (realCompiler === null) return;
  const table = await loadOptionTable(realCompiler.executable, temporaryDirectory());

  test.each([
    ['choice', 'compile-to'],
    ['value', 'o iree-hal-target-backends iree-llvmcpu-target-cpu iree-opt-level'],
    ['value', 'iree-codegen-tuning-spec-path iree-codegen-transform-dialect-library'],
    ['flag', 'split-input-file iree-opt-data-tiling version help h mlir-print-debuginfo'],
    ['flag', 'enable-machine-outliner mlir-print-ir-after iree-hal-list-target-backends'],
    [undefined, 'iree-tuned-db'],
  ])('has the kind %s of the flags that this project uses: %s', (kind, names) => {
    for (const name of names.split(' ')) expect([name, table(name)]).toEqual([name, kind]);
  });

  it("matches the compiler's treatment of every flag", () => {
    const known = parseHelp(compile(['--help-hidden']).stdout);
    const names = [...known.flags, ...known.values, ...known.uncertain].filter(
      (name) => !informationalFlags.has(name),
    );
    expect(names.length).toBeGreaterThan(2000);
    // A few flags change the compiler's output. Bisection finds them, which takes most of the time.
    const asked = names.filter((_, i) => isFull || i % 10 === 0);
    const wrong: string[] = [];
    const silent: string[] = [];
    const probe = (some: readonly string[]): void => {
      const free = unclaimedProbes(compile(probeArguments(some)).stderr);
      if (free.has(some.length)) {
        wrong.push(...some.filter((name, index) => (table(name) === 'flag') !== free.has(index)));
      } else if (some.length === 1) {
        silent.push(...some); // prints other text, or fails
      } else {
        const middle = some.length >> 1;
        probe(some.slice(0, middle));
        probe(some.slice(middle));
      }
    };
    probe(asked);
    expect(wrong).toEqual([]);
    expect(silent.length).toBeLessThan(asked.length / 50);
  });
});
