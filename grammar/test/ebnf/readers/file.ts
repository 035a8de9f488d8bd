import { skipMetadata } from '../../../src/balanced.ts';
import { splitChunks } from '../../../src/chunks.ts';
import { parse } from '../../../src/main.ts';
import { METADATA_BEGIN, METADATA_END } from '../../../src/scanner.ts';
import type { Tree } from '../derive.ts';
import { bytesOf, partOf, partsOf, type Reader, Refused, sourceAt, textOf, whole } from '../reader.ts';
import { namesOf } from './operations.ts';

const MATMUL = 'linalg.matmul ins(%v, %w : f32, f32) outs(%a : f32)';

/** All trees with the label, none of them in another one. */
function all(tree: Tree, label: string): Tree[] {
  return tree.label === label ? [tree] : tree.children.flatMap((child) => all(child, label));
}

const input: Reader = {
  production: 'input',
  examples: ['', 'a // ----- b', '// -----// -----\n', '"// ----" // -----\n// ---'],
  read: (text) => splitChunks(bytesOf(text)).map(({ start, end }) => text.slice(start, end)),
  says: (text, tree) => partsOf(tree, 'part').map(({ start, end }) => text.slice(start, end)),
};

const chunk: Reader = {
  production: 'chunk',
  examples: [
    ...['', `#a = 1 !b = f32 {-# a: { "linalg.matmul"() #-} %v = arith.constant < 1 > , { ${MATMUL} }`],
    ...[`foo(a, [b] < >) ${MATMUL} {-# #-}`, `a ( ( ${MATMUL} ) { ${MATMUL} } {-# #-} [ ${MATMUL} ] )`],
  ],
  // Ends so that no text behind it can be a part of it.
  choices: { 'chunk/operation': [[`${MATMUL} -> ()`]] },
  expendable: /^(?![{}]$)/,
  read: (text) => {
    const { operations, problems } = parse(bytesOf(text));
    const isBroken = problems.some(({ message }) => /^(?:the text ends|a ')/.test(message));
    return isBroken ? null : operations.map(({ name }) => name);
  },
  says: (text, tree) => namesOf(text, all(tree, 'operation')),
};

const constant: Reader = {
  production: 'constant',
  examples: [
    ...['%v = arith.constant', '%v = "tosa.const"(a)', '%v = tensor.cast %c', '%v = util.global.load @g'],
    ...['%v = linalg.transpose ins(%c : f32)', '%v = "tensor.cast"(%c, [a], {b})', 'util.global @h'],
    ...['%v = util.global.load a b c @g', 'util.global private a b @h'],
    ...['%v = torch.operator "onnx.Constant"', '%v = torch.operator "onnx.Transpose"(%c, {a})'],
  ],
  refused: [
    ...['%v = tensor.cast ins %c', '%v = tensor.cast (%c)', '%v = util.global.load a b c d @g'],
    ...['util.global a b c d @h', 'util.global mutable @h'],
  ],
  choices: {
    'constant/value-id': [['%v'], ['%v'], ['%v'], ['%c', '%d'], ['%c', '%d'], ['%v'], ['%c', '%d'], ['%v']],
    'constant/symbol-id': [['@g', '@i'], ['@h']],
    'constant/contents': [['', 'a, [b], {c}']],
  },
  expendable: /^[<>()[\]{}]$/,
  // %c and @g are constants; the sentence makes %v or @h one.
  read: (text) => {
    const isConstant = (use: string): boolean => {
      const { operations } = parse(bytesOf(`%c = arith.constant util.global @g ${text} ${use} ${MATMUL}`));
      return operations[0]?.operands[0]?.constant === true;
    };
    return isConstant('') ? 'value' : isConstant('%v = util.global.load @h') ? 'global' : null;
  },
  says: (text, tree) => {
    const symbolId = partOf(tree, 'symbol-id');
    const symbol = symbolId && textOf(text, symbolId);
    const [result, from] = partsOf(tree, 'value-id').map((value) => textOf(text, value));
    const isMutable = partsOf(tree, 'bare-id').some((word) => textOf(text, word) === 'mutable');
    if (result === undefined) return symbol === '@h' && !isMutable ? 'global' : null;
    return result === '%v' && (from ?? '%c') === '%c' && (symbol ?? '@g') === '@g' ? 'value' : null;
  },
};

const aliasDefinition: Reader = {
  production: 'alias-definition',
  examples: ['#a =', '!b ='],
  read: (text) => {
    const { aliases, scanner } = sourceAt('', text, ' {1}');
    const name = text.replace(/\/\/.*|[\s\0=]/g, '');
    return aliases.read(name, () => scanner.skipTrivia(scanner.pos)) === text.length + 1 ? name : null;
  },
  says: (text, tree) => {
    const name = textOf(text, tree.children[0]!);
    if (name.includes('.')) throw new Refused();
    return name;
  },
};

const fileMetadata: Reader = {
  production: 'file-metadata',
  examples: ['{-##-}', '{-# a: { ( "#-}" { } } #-}'],
  read: whole(({ scanner }) => {
    if (scanner.next() !== METADATA_BEGIN) return null;
    skipMetadata(scanner);
    return scanner.at(METADATA_END) ? true : null;
  }),
  says: () => true,
};

export const fileReaders: readonly Reader[] = [input, chunk, constant, aliasDefinition, fileMetadata];
