// The group of a dispatch, by the compiler's name for its work. Pure.

/** The first word that the name has decides, because the compiler names a dispatch after its main operation. */
const GROUPS: readonly (readonly [words: RegExp, group: string])[] = [
  [/attention/, 'attention'],
  [/conv|winograd/, 'convolution'],
  [/matmul|mmt4d|matvec|vecmat|contract|(?:^|_)dot(?:_|$)/, 'matrix product'],
  [/pooling/, 'pooling'],
  [/softmax|reduction|reduce|arg_compare|topk|sort|scan/, 'softmax or reduction'],
  [/elementwise/, 'element-wise'],
  [/transpose|memcpy|copy|pack|encod|gather|scatter|broadcast|fill|slice|concat|im2col/, 'transpose or copy'],
];

/** @param name of a dispatch or of its work, such as `softmax_6x1500x1500xf32` */
export const groupOf = (name: string): string =>
  GROUPS.find(([words]) => words.test(name.replace(/^.*_dispatch_\d+_?/, '')))?.[1] ?? 'other dispatches';
