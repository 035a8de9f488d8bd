// A change that means nothing keeps the digest of a program; every other change changes it, or there is no digest.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalDigest } from '../../src/input/canonical.ts';

const digest = (text: string) => canonicalDigest(Buffer.from(text));

const T = 'tensor<4xf32>';

const func = (name: string, body: string, more = '') =>
  `  "util.func"() <{function_type = (${T}) -> ${T}, sym_name = "${name}"${more}}> ({
  ^bb0(%arg0: ${T}):
${body}
  }) : () -> ()`;
const PRIVATE = ', sym_visibility = "private"';
const add = (result: string, a: string, b: string, attributes = '') =>
  `    ${result} = "arith.subf"(${a}, ${b})${attributes} : (${T}, ${T}) -> ${T}`;
const constant = (result: string, value: string) =>
  `    ${result} = "arith.constant"() <{value = ${value} : ${T}}> : () -> ${T}`;
const call = (result: string, name: string, value: string) =>
  `    ${result} = "util.call"(${value}) <{callee = @${name}}> : (${T}) -> ${T}`;
const yields = (value: string) => `    "util.return"(${value}) : (${T}) -> ()`;
const body = (...lines: string[]) => lines.join('\n');
const module = (...operations: string[]) =>
  `"builtin.module"() ({\n${operations.join('\n')}\n}) : () -> ()\n`;
const resources = (...blobs: string[]) =>
  `{-#\n  dialect_resources: {\n    builtin: {\n      ${blobs.join(',\n      ')}\n    }\n  }\n#-}\n`;

const helper = (name: string) => func(name, body(add('%0', '%arg0', '%arg0'), yields('%0')), PRIVATE);
const other = func('other', body(constant('%0', 'dense<2.0>'), yields('%0')));
const global = '  "util.global"() <{sym_name = "w", type = tensor<4xf32>}> : () -> ()';
const mainBody = body(
  constant('%0', 'dense<1.0>'),
  call('%1', 'helper', '%0'),
  add('%2', '%1', '%arg0'),
  yields('%2'),
);
const main = func('main', mainBody);
const program = module(global, main, other, helper('helper'));

test('a program has a digest', () => {
  expect(digest(program)).toMatch(/^[\da-f]{64}$/);
});

const changed = (from: string | RegExp, to: string) => {
  const text = program.replaceAll(new RegExp(from, 'g'), to);
  expect(text).not.toBe(program);
  return text;
};

describe('a meaningless change keeps the digest', () => {
  test.each([
    ['another name of a public function', changed('"main"', '"torch-jit-export"')],
    ['a quoted name', changed('"main"', '"Model from \\"X\\"."')],
    ['another name of a called function', changed('(["@])helper', '$1f')],
    ['a name of the module', changed('"builtin.module"\\(\\)', '"builtin.module"() <{sym_name = "m"}>')],
    ['other names of values', changed('%(\\w+)', '%v_$1')],
    ['another order of functions', module(helper('helper'), other, global, main)],
    ['an unused private function', module(global, main, other, helper('helper'), helper('unused'))],
    [
      'an unused private function that is not understood',
      module(
        global,
        main,
        other,
        helper('helper'),
        func('unused', body('    foo.bar', yields('%arg0')), PRIVATE),
      ),
    ],
    [
      'unused operations',
      changed(
        / {4}"util\.return"/,
        `${add('%8', '%arg0', '%arg0')}\n${add('%9', '%8', '%8')}\n    "util.return"`,
      ),
    ],
    ['another indentation', changed('\n +', '\n ')],
  ])('%s', (_, text) => {
    expect(digest(text)).toBe(digest(program));
  });

  test('another name and order of resources', () => {
    const uses = (a: string, b: string) =>
      module(
        func('a', body(constant('%0', `dense_resource<${a}>`), yields('%0'))),
        func('b', body(constant('%0', `dense_resource<${b}>`), yields('%0'))),
      );
    const text = uses('a', 'b') + resources('a: "0x0400000001"', 'b: "0x0400000002"');
    const others = uses('"x y"', 'y') + resources('y: "0x0400000002"', '"x y": "0x0400000001"');
    expect(digest(text)).toMatch(/^[\da-f]{64}$/);
    expect(digest(others)).toBe(digest(text));
    const swapped = uses('a', 'b') + resources('a: "0x0400000002"', 'b: "0x0400000003"');
    expect(digest(swapped)).not.toBe(digest(text));
  });
});

describe('a change that matters changes the digest', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['a type', changed('4xf32', '8xf32')],
    ['an attribute', changed('"arith.subf"\\((%1.*?)\\)', '"arith.subf"($1) {a}')],
    ['a constant', changed('1\\.0', '1.5')],
    ['the order of operands', changed('%1, %arg0', '%arg0, %1')],
    ['an operation', changed('"arith.subf"\\(%1', '"arith.addf"(%1')],
    ['a called function', module(global, main, other, func('helper', yields('%arg0'), PRIVATE))],
    ['another called function', changed('@helper', '@other')],
    ['a public function more', module(global, main, other, other.replace('other', 'copy'), helper('helper'))],
    ['a public function less', module(global, main, helper('helper'))],
    ['a private function that becomes public', changed(PRIVATE, '')],
    ['a global', changed('type = tensor<4xf32>', 'type = tensor<4xf64>')],
    [
      'an unused operation with an effect',
      changed(/ {4}"util\.return"/, '    "util.do"() : () -> ()\n    "util.return"'),
    ],
    [
      'an unused operation with an effect inside',
      changed(
        / {4}"util\.return"/,
        `    %9 = "linalg.generic"() ({\n      "util.do"() : () -> ()\n    }) : () -> ${T}\n    "util.return"`,
      ),
    ],
    ['an attribute of the module', changed('"builtin.module"\\(\\)', '"builtin.module"() <{a}>')],
    [
      'an external function',
      module(global, main, other, helper('helper'), func('outside', '', PRIVATE).replace(/\^bb0.*\n/, '')),
    ],
  ];
  test.each(cases)('%s', (_, text) => {
    expect(digest(text)).toMatch(/^[\da-f]{64}$/);
    expect(digest(text)).not.toBe(digest(program));
  });

  test('all of these are different programs', () => {
    expect(new Set(cases.map(([, text]) => digest(text))).size).toBe(cases.length);
  });

  test('calls of two functions are not exchanged', () => {
    const calls = (a: string, b: string) =>
      module(
        func(
          'main',
          body(call('%0', a, '%arg0'), call('%1', b, '%arg0'), add('%2', '%0', '%1'), yields('%2')),
        ),
        helper('f'),
        func('g', yields('%arg0'), PRIVATE),
      );
    expect(digest(calls('f', 'g'))).not.toBe(digest(calls('g', 'f')));
  });

  test('names of globals are not exchanged', () => {
    const stores = (a: string, b: string) =>
      module(
        global,
        global.replace('"w"', '"v"'),
        func(
          'main',
          body(
            `    "util.store"(%arg0) <{global = @${a}}> : (${T}) -> ()`,
            `    %0 = "util.load"() <{global = @${b}}> : () -> ${T}`,
            yields('%0'),
          ),
        ),
      );
    expect(digest(stores('w', 'w'))).not.toBe(digest(stores('w', 'v')));
  });

  test('texts inside of attributes are no names of values', () => {
    const withText = (text: string) =>
      program.replace('callee = @helper', `callee = @helper, text = "${text}"`);
    expect(digest(withText('%a'))).not.toBe(digest(withText('%b')));
  });
});

describe('there is no digest of', () => {
  test.each([
    ['bytecode', 'ML\u{ef}R'],
    ['no module', ''],
    ['two modules', module(main, helper('helper')) + module(other)],
    ['a custom form', changed('"util.return"\\(%2\\).*', 'util.return %2 : tensor<4xf32>')],
    ['an unknown section', program + '{-#\n  external_resources: {\n    a: {\n    }\n  }\n#-}\n'],
    ['an elided constant', changed('dense<1.0>', 'dense_resource<__elided__>')],
    ['duplicate functions', module(main, helper('helper'), helper('helper'))],
    ['recursion', module(func('f', body(call('%0', 'f', '%arg0'), yields('%0'))))],
    [
      'a public function whose name is a string',
      changed('callee = @helper', 'callee = @helper, text = "main"'),
    ],
    [
      'nested symbols',
      changed('"util.return"\\(%2', `"a.b"() {sym_name = "x"} : () -> ()\n"util.return"(%2`),
    ],
    [
      'an operation that is used before it',
      module(
        func(
          'main',
          body(
            '    "cf.br"()[^bb2] : () -> ()',
            '  ^bb1:',
            yields('%0'),
            '  ^bb2:',
            add('%0', '%arg0', '%arg0'),
            '    "cf.br"()[^bb1] : () -> ()',
          ),
        ),
      ),
    ],
    [
      'deep nesting',
      module(func('main', '    "a.b"() ({\n'.repeat(20_000) + '    }) : () -> ()\n'.repeat(20_000))),
    ],
  ])('%s', (_, text) => {
    expect(digest(text)).toBeNull();
  });
});

/** A program of random operations: operands by index among the earlier values. */
const operations = fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 12 });

function textOf(
  all: readonly (readonly [number, number])[],
  nameOf: (i: number) => string,
  name: string,
): string {
  const value = (i: number) => (i === 0 ? '%arg0' : nameOf(i));
  const lines = all.map(([a, b], i) =>
    add(value(i + 1), value(a % (i + 1)), value(b % (i + 1)), ` {id = ${i}}`),
  );
  return module(func(name, body(...lines, yields(value(all.length)))));
}

test('random programs keep their digest under renaming, and lose it when a used operand changes', () => {
  fc.assert(
    fc.property(operations, fc.nat(), (all, at) => {
      const own = digest(textOf(all, (i) => `%${i}`, 'main'));
      expect(own).not.toBeNull();
      expect(digest(textOf(all, (i) => `%n${all.length - i}`, 'f$1'))).toBe(own);
      const last = all.length - 1;
      const other = all.map((one, i): typeof one => (i === last ? [one[0] + 1, one[1]] : one));
      if (last > 0) expect(digest(textOf(other, (i) => `%${i}`, 'main'))).not.toBe(own);
      // Dead code anywhere.
      const dead = textOf(all, (i) => `%${i}`, 'main').split('\n');
      dead.splice(3 + (at % all.length), 0, add('%dead', '%arg0', '%arg0'));
      expect(digest(dead.join('\n'))).toBe(own);
    }),
  );
});
