// The text of a lock file, valid and invalid.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  LockError,
  lockText,
  parseLock,
  withEntries,
  type LockedProgram,
  type LockedWorkload,
} from '../../../src/decision/lock/lock.ts';
import { TILE } from '../../store/samples.ts';
import { DEFAULT_RECORD, LEFT_OUT, programOf, RECORD, UNKNOWN } from './support.ts';

const PROGRAM_WIDE: LockedWorkload = {
  kind: 'program',
  configuration: { version: 1, kind: 'data-tile' },
  because: 'data tiling "of all" makes this program 1.50x as fast',
};
const full = programOf({
  workloads: new Map<string, LockedWorkload>([
    ['e', UNKNOWN],
    ['d', LEFT_OUT],
    ['b', DEFAULT_RECORD],
    ['a', RECORD],
    ['c', PROGRAM_WIDE],
  ]),
});

test('each value has its own line, in order', () => {
  const tile = JSON.stringify(TILE);
  expect(lockText({ programs: [full] })).toBe(`{
  "programs": [
    {
      "compiler": "3.13.0@cccccccccc",
      "digest": "00000000000000000000000000000000",
      "dim": "",
      "flags": ["--iree-llvmcpu-target-cpu=host"],
      "inject": "auto",
      "program": "models/a.mlir",
      "route": "spec",
      "surveyed": false,
      "target": "llvm-cpu x86_64-unknown-linux-gnu znver4 features=0123456789",
      "workloads": {
        "a": {"configuration": ${tile}, "speedup": {"high":1.88,"low":1.79,"ratio":1.83}},
        "b": {"configuration": {"version":1,"kind":"default"}, "speedup": {"high":1,"low":1,"ratio":1}},
        "c": {"because": "data tiling \\"of all\\" makes this program 1.50x as fast", "configuration": {"version":1,"kind":"data-tile"}},
        "d": {"because": "its configuration makes this program worse", "leftOut": ${tile}},
        "e": {"because": "there was no record"}
      }
    }
  ],
  "version": 1
}
`);
});

test('the form of each operation has its own line', () => {
  const forms = new Map([
    ['conv_2d_nchw_fchw b', 'matmul'],
    ['conv_2d_nchw_fchw a', 'channels-last'],
  ]);
  expect(lockText({ programs: [{ ...full, forms }] })).toContain(`
      "flags": ["--iree-llvmcpu-target-cpu=host"],
      "forms": {
        "conv_2d_nchw_fchw a": "channels-last",
        "conv_2d_nchw_fchw b": "matmul"
      },
      "inject": "auto",
`);
});

test('a written lock file is read, with its entries in any order', () => {
  const forms = new Map([['a convolution', 'matmul']]);
  const programs = [
    programOf({ ...full, program: 'b.mlir' }),
    programOf({ ...full, program: 'a.mlir', forms }),
    programOf({ ...full, program: '../c.mlir' }),
  ];
  const lock = withEntries({ programs: [] }, programs);
  expect(lock.programs.map(({ program }) => program)).toEqual(['../c.mlir', 'a.mlir', 'b.mlir']);
  const text = lockText(lock);
  expect(lockText(parseLock(text))).toBe(text);
  expect(lockText(withEntries({ programs: [] }, programs.toReversed()))).toBe(text);
  expect(parseLock(lockText({ programs: [] }))).toEqual({ programs: [] });
});

test('an entry replaces that of the same command, target and compiler, even with another text', () => {
  const now = programOf({ digest: '1'.repeat(32) });
  expect(withEntries({ programs: [programOf()] }, [now]).programs).toEqual([now]);
  for (const change of [
    { compiler: '3.14.0@dddddddddd' },
    { target: 'llvm-cpu aarch64' },
    { flags: [] },
    { inject: 'spec' },
    { dim: 'm=1' },
  ] as const)
    expect(withEntries({ programs: [programOf()] }, [programOf(change)]).programs).toHaveLength(2);
});

/** The text of a lock file with one value replaced. */
function changed(place: readonly (string | number)[], value: unknown): string {
  const json = JSON.parse(lockText({ programs: [full] })) as Record<string, unknown>;
  let at: Record<string | number, unknown> = json;
  for (const key of place.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  if (value === undefined) Reflect.deleteProperty(at, place.at(-1)!);
  else at[place.at(-1)!] = value;
  return JSON.stringify(json);
}

const why = (text: string): string => {
  try {
    parseLock(text);
  } catch (error) {
    if (error instanceof LockError) return error.message;
    throw error;
  }
  return 'understood';
};

describe('an invalid lock file is refused with the place', () => {
  const workload = (name: string, ...rest: string[]) => ['programs', 0, 'workloads', name, ...rest];
  const no = (name: string) => `programs[0].workloads["${name}"] is unknown to this version`;
  test.each<[string, string, string]>([
    ['nothing', '', 'it is not JSON: restore it, or delete it and run iree-tuned lock INPUT -- FLAGS'],
    [
      'half of one',
      lockText({ programs: [full] }).slice(0, 300),
      'it is not JSON: restore it, or delete it and run iree-tuned lock INPUT -- FLAGS',
    ],
    [
      'two versions',
      `<<<<<<< HEAD\n${lockText({ programs: [full] })}`,
      'it has a merge conflict: keep one side, then run iree-tuned lock',
    ],
    ['a list', '[]', 'it is not a lock file'],
    ['another version', changed(['version'], 0), 'it is not a lock file'],
    [
      'a newer version',
      '{"version": 2, "routes": {}}',
      'it was written by a newer iree-compile-tuned (version 2): install that',
    ],
    ['another key', changed(['more'], 1), 'it is not a lock file'],
    [
      'another key of a program',
      changed(['programs', 0, 'more'], 1),
      'programs[0] is not the entry of a program',
    ],
    [
      'a program without route',
      changed(['programs', 0, 'route'], undefined),
      'programs[0] is not the entry of a program',
    ],
    ['an unknown route', changed(['programs', 0, 'route'], 'auto'), 'programs[0].route is not a route'],
    [
      'another text as digest',
      changed(['programs', 0, 'digest'], '../x'),
      'programs[0].digest is not a digest',
    ],
    [
      'a name for a terminal',
      changed(['programs', 0, 'program'], '\u001b[2Ja'),
      'programs[0].program is not a path',
    ],
    ['a number as forms', changed(['programs', 0, 'forms'], 1), 'programs[0].forms is not an object'],
    ['a number as a form', changed(['programs', 0, 'forms'], { a: 1 }), 'programs[0].forms are not names'],
    [
      'flags that are inputs',
      changed(['programs', 0, 'flags'], ['a.mlir']),
      'programs[0].flags are not flags',
    ],
    ['sizes in another order', changed(['programs', 0, 'dim'], 'n=1 m=1'), 'programs[0].dim are not sizes'],
    ['MLIR for a configuration', changed(workload('a', 'configuration'), '#iree_codegen.x<y>'), no('a')],
    ['MLIR for a tile', changed(workload('a', 'configuration', 'distribution'), ['64] }', 1, 0]), no('a')],
    ['a tile beyond all', changed(workload('a', 'configuration', 'distribution'), [2 ** 40, 1, 0]), no('a')],
    ['a level more', changed(workload('a', 'configuration', 'more'), [1, 1, 1]), no('a')],
    ['no gain', changed(workload('a', 'speedup', 'low'), 0.9), no('a')],
    ['no interval', changed(workload('a', 'speedup', 'high'), 1), no('a')],
    ['a gain of the default', changed(workload('b', 'speedup', 'high'), 2), no('b')],
    [
      'a default that is left out',
      changed(workload('d', 'leftOut'), { version: 1, kind: 'default' }),
      no('d'),
    ],
    ['a reason of two lines', changed(workload('e', 'because'), 'a\nb'), no('e')],
    ['a workload that is none', changed(workload('e'), null), no('e')],
  ])('%s', (_, text, message) => {
    expect(why(text)).toBe(message);
  });

  test('two entries of the same program', () => {
    const text = lockText({ programs: [full, { ...full, digest: '1'.repeat(32) }] });
    expect(why(text)).toBe('it has two entries of the same program');
  });

  test('any other text', () => {
    const programs: LockedProgram[] = [full];
    const text = lockText({ programs });
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ maxLength: 3 }), (at, noise) => {
        const bent = text.slice(0, at) + noise + text.slice(at + noise.length);
        // A lock file that is read is written as the same text.
        if (why(bent) === 'understood') expect(why(lockText(parseLock(bent)))).toBe('understood');
      }),
    );
    for (const value of [null, 1, 'x y', [1], { x: 1 }])
      for (const key of Object.keys(full))
        if (value !== 'x y' || !['program', 'compiler', 'target'].includes(key))
          expect([key, why(changed(['programs', 0, key], value))]).not.toEqual([key, 'understood']);
  });
});
