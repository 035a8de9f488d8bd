import fc from 'fast-check';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { expandResponseFiles, splitArguments } from '../../src/compiler/response.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { quoteArgument } from '../support/quote-argument.ts';
import { compile, realCompiler } from './support.ts';
import { write } from '../support/scripts.ts';

/** Texts and their flags, which the real compiler confirms below. */
const texts: [text: string, tokens: string[]][] = [
  ['', []],
  [' \n\t ', []],
  ['--a1 --b1', ['--a1', '--b1']],
  ['--a\n--b\t--c\r\n--d', ['--a', '--b', '--c', '--d']],
  ['\'--a b\' "--c d"', ['--a b', '--c d']],
  ['--a\\ b --c\\\\d', ['--a b', '--c\\d']],
  ["'--a\\'b' --c", ["--a'b", '--c']],
  ["--x''y --'z w'\"q\"", ['--xy', '--z wq']],
  ['--a"b c"d\'e f\'g', ['--ab cde fg']],
  ['"--a\'b" \'--c"d\'', ["--a'b", '--c"d']],
  ['--a\\', ['--a\\']],
  ["--a '--b", ['--a', '--b']],
  ["--a '--b\\", ['--a', '--b\\']],
  ['"--a\\nb"', ['--anb']],
  ['--a\\\n--b', ['--a\n--b']],
  ["'--a\n b' --c", ['--a\n b', '--c']],
  ['--a\u000b--b\f--c', ['--a\u000b--b\f--c']],
  ['--a$HOME --b`x` --c*', ['--a$HOME', '--b`x`', '--c*']],
  ['\ufeff--a', ['--a']],
  ['--é', ['--é']],
  ['--a\0--b --c', ['--a', '--c']],
];

describe('splitting', () => {
  test.each(texts)('%j gives %j', (text, tokens) => {
    expect(splitArguments(text)).toEqual(tokens);
  });

  test.each([
    ["--a ''", ['--a', '']],
    ["--a '' --b", ['--a', '', '--b']],
    ["--a '", ['--a', '']],
  ])('%j keeps the empty argument', (text, tokens) => {
    expect(splitArguments(text)).toEqual(tokens);
  });

  it('reads back every quoted argument', () => {
    const argument = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''));
    const readable = fc.oneof(
      argument,
      fc.string({ unit: fc.constantFrom('\\', '"', "'", ' ', '\t', '\n', '@', 'a') }),
    );
    fc.assert(
      fc.property(fc.array(readable), fc.constantFrom(' ', '\n', '\t \r\n'), (argv, separator) => {
        expect(splitArguments(argv.map(quoteArgument).join(separator))).toEqual(argv);
      }),
    );
  });

  it('never fails for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('\\', '"', "'", ' ', '\n', '\0', 'a') }), (text) => {
        expect(splitArguments(text).join('').length).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});

describe('expanding', () => {
  const directory = temporaryDirectory();
  const little = Buffer.from('\ufeff--a é', 'utf16le');
  const files: Record<string, string | Buffer> = {
    a: '--one @b',
    b: '--two',
    empty: "--a '' --b",
    self: '--x @./self',
    ring: '@ring2',
    ring2: '--y @ring',
    wide: Array.from({ length: 400 }, () => '@wider').join(' '),
    wider: Array.from({ length: 400 }, () => '--z').join(' '),
    'little-endian': little,
    'big-endian': Buffer.from(little).swap16(),
    latin1: Buffer.from([0xe9]),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const expand = (...argv: string[]) => expandResponseFiles(argv, directory);

  test.each([
    ['leaves arguments without a leading @ alone', ['m.mlir', '--x=@a'], ['m.mlir', '--x=@a']],
    ['inserts the arguments of nested files', ['-o', '@a', '--end'], ['-o', '--one', '--two', '--end']],
    ['expands one file twice', ['@b', '@b'], ['--two', '--two']],
    ['expands after --, as the compiler does', ['--', '@b'], ['--', '--two']],
    ['keeps the argument of a missing file', ['@nowhere'], ['@nowhere']],
    ['decodes UTF-16 by its byte order mark', ['@little-endian', '@big-endian'], ['--a', 'é', '--a', 'é']],
  ])('%s', (_, argv, expanded) => {
    expect(expand(...argv)).toEqual({ argv: expanded, problem: null });
  });
  test.each([
    ['a file that contains itself by another name', '@self', /@.\/self contains itself/],
    ['files that contain each other', '@ring', /@ring contains itself/],
    ['a directory', '@.', /is a directory/],
    ['a file below a file', '@a/b', /ENOTDIR/],
    ['a device', '@/dev/null', /is not a regular file/],
    ['a text of another encoding', '@latin1', /is not UTF-8/],
    ['an empty argument, which not every compiler keeps', '@empty', /empty argument/],
    ['more arguments than anybody means', '@wide', /too many/],
  ])('reports %s and returns the original', (_, argument, problem) => {
    const result = expand(argument, 'm.mlir');
    expect(result.problem).toMatch(problem);
    expect(result.argv).toEqual([argument, 'm.mlir']);
  });
});

describe.skipIf(realCompiler === null)('the real compiler', { tags: ['compiler'] }, () => {
  const directory = temporaryDirectory();
  /** The flags that the compiler reports as unknown, which are all flags of the text. */
  const seen = (...argv: string[]): string[] => {
    const complaints = compile(argv, directory).stderr.matchAll(
      /Unknown command line argument '(.*?)'\. {2}Try/gs,
    );
    return Array.from(complaints, (match) => match[1]!);
  };

  test.each(texts)('sees in %j the flags %j', (text, tokens) => {
    write(join(directory, 'r'), text);
    expect(seen('@r')).toEqual(tokens);
  });

  it('reads nested files relative to the working directory', () => {
    write(join(directory, 'sub/outer'), '--outer @inner');
    write(join(directory, 'sub/inner'), '--wrong');
    write(join(directory, 'inner'), '--inner');
    const expected = ['--outer', '--inner', '--end'];
    expect(seen('@sub/outer', '--end')).toEqual(expected);
    expect(expandResponseFiles(['@sub/outer', '--end'], directory).argv).toEqual(expected);
  });

  it('rejects every `problem` first', () => {
    write(join(directory, 'self'), '@self');
    for (const argument of ['@self', '@.', '@self/x', '@']) {
      expect(expandResponseFiles([argument], directory).problem).not.toBeNull();
      expect(compile([argument, '--version'], directory).code).toBe(1);
    }
  });

  it('reads a missing file as the name of the input', () => {
    expect(compile(['@nowhere'], directory).stderr).toContain("'@nowhere'");
  });
});
