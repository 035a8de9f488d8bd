import { functions, type Type } from '../../../src/main.ts';
import type { Tree } from '../derive.ts';
import { bytesOf, nameOf, partOf, partsOf, type Reader, textOf, Unsaid } from '../reader.ts';
import { typeOf } from './types.ts';

/** Types by their aliases. */
type Known = ReadonlyMap<string, Type>;

function resolved(text: string, type: Tree, known: Known): Type {
  return known.get(textOf(text, type)) ?? typeOf(text, type);
}

function signature(text: string, list: Tree, known: Known): Type[] {
  return partsOf(list, 'parameter').map(({ children }) => {
    const at = children.findIndex(({ label }) => label === 'type');
    if (at < 0) return { kind: 'opaque', text: '' };
    const after = children[at + 1];
    // Either the type goes on and is not understood, or it ends here.
    if (after !== undefined && /^(?:->|<)/.test(textOf(text, after))) throw new Unsaid();
    return resolved(text, children[at]!, known);
  });
}

/** Its types are single words here. */
function quotedFunctionOf(text: string, tree: Tree): unknown[] {
  const attributes = partsOf(tree, 'dictionary')
    .flatMap((dictionary) => partsOf(dictionary, 'attribute'))
    .map((attribute) => squeezed(textOf(text, attribute)));
  const first = (pattern: RegExp) =>
    attributes.map((one) => pattern.exec(one)).find((found) => found !== null);
  const type = first(/^function_type=\((\w+)\)->(\w+)$/);
  const name = first(/^sym_name="(\w+)"$/);
  const visibility = attributes.find((one) => one.startsWith('sym_visibility='));
  const isPublic = visibility === undefined || visibility.endsWith('="public"');
  const region = squeezed(textOf(text, partOf(tree, 'opaque')!));
  if (!type || !name || !isPublic || !/^\{[^}]/.test(region)) return [];
  const [results, list] = [type[2]!, type[1]!].map((one) => [{ kind: 'opaque', text: one }]);
  // It ends with its region, which a dictionary may follow.
  const parts = tree.children.filter(({ label }) => label !== 'dictionary');
  const end = parts[parts.length - 1]!.end;
  return [{ arguments: list, results, name: name[1], text: text.slice(tree.start, end) }];
}

const squeezed = (text: string): string => text.replace(/\/\/.*|[\s\0]/g, '');

function functionOf(text: string, tree: Tree, known: Known): unknown {
  const head = partOf(tree, 'function-head')!;
  const [list, results] = partsOf(head, 'signature-list').map((one) => signature(text, one, known));
  const symbol = partOf(head, 'symbol-id')!;
  const result = partOf(head, 'plain-type');
  return {
    arguments: list,
    results: results ?? (result ? [resolved(text, result, known)] : []),
    name: nameOf(text, { ...symbol, start: symbol.start + 1 }),
    text: textOf(text, tree),
  };
}

export const programReader: Reader = {
  production: 'program',
  examples: [
    ...['', 'a ( { b { ] } }', 'func.func @f() { } func.func @g() {a {} b}'],
    `!t = tensor<4xf32> module @m attributes {a} {
       func.func @f(%a: !t {b} loc(c) d, f32 e {f}) -> (i1, %b as i8, %c, %d as) attributes {a} { } }`,
    `builtin.module { func.func private @a() func.func @b() -> f32 { } {} {-# #-} a }
     util.func public @"c d"(%a, !t) -> tensor<2xi1> { }`,
    `"builtin.module"() <{a}> ({ ^b: "util.func"() ({ c }) {function_type = (f32) -> i8, sym_name = "q"} : () -> () })
     "func.func"() <{function_type = (f32) -> i8, sym_name = "r", sym_visibility = "public"}> ({ {} }) : () -> ()`,
    '"builtin.module"() ({ {} {-# "}" { #-} func.func @f() { } })',
    '() <{a}> ({ func.func @f() { } })',
    ...['{ #a.b<{//}> } func.func @f() { }', '{ !a.b<{//}> } func.func @f() { }'],
    '"func.func"() <{function_type = (a) -> b, sym_name = "c", sym_visibility = "private"}> ({ d })',
    'func.func @a() func.func nested @b() { func.func @d() { } } {-# { #-} func.func @c(%a f32) { b < ( }',
  ],
  choices: {
    'function-head/symbol-id': [['@f', '@"g h"']],
    'type-definition/type-id': [['!t', '!0']],
    'parameter/group': [['{a = "b"}', 'loc(#c)', '[d]', '<e>']],
    'quoted-function/dictionary': [
      [
        '{function_type = (f32) -> i8, sym_name = "q"}',
        '{sym_visibility = "private", sym_name = "q"}',
        '{a}',
      ],
      ['{b}', '{function_type = (i1) -> i1, sym_name = "s"}'],
    ],
    'quoted-function/opaque': [['{ a }', '{ }', '{ { } b }', 'c']],
    'module/file-metadata': [['{-# a: "}" #-}']],
  },
  // Any text is some program.
  expendable: /[^]/,
  read: (text) =>
    functions(bytesOf(text)).map(({ start, end, ...rest }) => ({
      ...rest,
      text: textOf(text, { start, end }),
    })),
  says: (text, tree) => {
    const known = new Map<string, Type>();
    const functionsOf = (one: Tree): unknown[] => {
      const quoted = partOf(one, 'quoted-function');
      return quoted ? quotedFunctionOf(text, quoted) : [functionOf(text, one, known)];
    };
    return tree.children.flatMap((item) => {
      if (item.label === 'function') return functionsOf(item);
      if (item.label === 'module') return partsOf(item, 'function').flatMap(functionsOf);
      const [name, , type] = item.children;
      if (item.label === 'type-definition') known.set(textOf(text, name!), resolved(text, type!, known));
      return [];
    });
  },
};
