// Reads the output of `iree-opt --mlir-print-op-generic` line by line. Shares no code with the parser.
import { rows } from '../src/table.ts';
import table from '../operations.json' with { type: 'json' };

/** One operation in the compiler's generic print. */
export interface Printed {
  readonly name: string;
  /** Line and column in the input; `somewhere` if the text has its own `loc(...)`. */
  readonly location: string;
  readonly types: readonly string[];
  readonly results: readonly string[];
  /** Null if the print has none, because the name defines them. */
  readonly maps: string | null;
  readonly iterators: string | null;
  /** The discardable attributes. */
  readonly dictionary: string;
}

interface Open {
  readonly name: string;
  readonly indent: number;
  readonly head: string;
  /** Whether it counts. Operations in patterns or in other contractions do not. */
  readonly counts: boolean;
}

/** Names of operations at the start of their statement. */
const names: ReadonlySet<string> = new Set(
  rows.filter(({ dictionary }) => dictionary !== 'operator').map(({ name }) => name),
);
/** Names in the property `name` of a `torch.operator`. */
const operators: ReadonlySet<string> = new Set(
  rows.filter(({ dictionary }) => dictionary === 'operator').map(({ name }) => name),
);
const opaque: ReadonlySet<string> = new Set(table.regions.opaque);

/** The operations in a generic print, in order. */
export function readPrint(print: string): Printed[] {
  const found: (Printed | null)[] = [];
  const open: (Open & { readonly place: number })[] = [];
  const lines = print.split('\n');
  let at = 0;
  // Attributes of unknown dialects keep their line breaks. A location ends each operation.
  const rest = (line: string): string => {
    let text = line;
    while (!/ loc\(\S.*\)$/.test(text) && at + 1 < lines.length) text += lines[++at]!;
    return text;
  };
  for (; at < lines.length; at++) {
    const line = lines[at]!;
    const indent = line.search(/\S/);
    const name = /^\s*(?:%[^"=]+ = )?"([^"]+)"\(/.exec(line)?.[1];
    const inside = open.at(-1);
    if (name !== undefined) {
      const counts = isWanted(name, line) && !open.some((other) => opaque.has(other.name) || other.counts);
      if (line.endsWith('({')) {
        open.push({ name, indent, head: line, counts, place: found.length });
        if (counts) found.push(null);
      } else if (counts) {
        found.push(readOperation(name, rest(line)));
      }
    } else if (inside?.indent === indent && line.startsWith('})', indent)) {
      open.pop();
      if (inside.counts)
        found[inside.place] = readOperation(inside.name, `${inside.head}${rest(line.trim())}`);
    }
  }
  return found.filter((operation) => operation !== null);
}

/** Whether the operation counts. A generic needs two inputs, one output and a reduction. */
function isWanted(name: string, head: string): boolean {
  if (name === 'torch.operator') return operators.has(operatorOf(head));
  if (name !== 'linalg.generic') return names.has(name);
  return head.includes('iterator_type<reduction>') && head.includes('operandSegmentSizes = array<i32: 2, 1>');
}

function operatorOf(head: string): string {
  return /<\{(?:.*, )?name = "([^"]*)"/.exec(head)?.[1] ?? '';
}

/** Reads `"name"(values) <{properties}> ({regions}) {attributes} : (types) -> types loc(...)` without its regions. */
function readOperation(name: string, text: string): Printed {
  let at = text.indexOf(`"${name}"(`) + name.length + 2;
  const group = (opener: string): string => {
    if (!text.startsWith(opener, at)) return '';
    const end = closing(text, at);
    const content = text.slice(at + opener.length, end - opener.length);
    at = text[end] === ' ' ? end + 1 : end;
    return content;
  };
  group('(');
  const properties = group('<{');
  group('(');
  const dictionary = group('{');
  if (text.startsWith(': ', at)) at += 2;
  const types = splitList(group('(')).map(shapedType);
  if (text.startsWith('-> ', at)) at += 3;
  const results = text.startsWith('(', at) ? group('(') : text.slice(at).replace(/ loc\(.*$/, '');
  return {
    name: name === 'torch.operator' ? operatorOf(text) : name,
    location: /loc\("(?:-|<stdin>)":(\d+:\d+)\)$/.exec(text)?.[1] ?? 'somewhere',
    types,
    results: splitList(results).map(shapedType),
    maps: readMaps(properties),
    iterators: readIterators(properties),
    dictionary,
  };
}

/** The offset after the closing bracket of the bracket at `from`. */
function closing(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if ('([{<'.includes(character)) {
      depth++;
    } else if (')]}'.includes(character) || (character === '>' && text[at - 1] !== '-')) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

function splitList(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if ('([{<"'.includes(text[at]!)) {
      at = text[at] === '"' ? text.indexOf('"', at + 1) : closing(text, at) - 1;
    } else if (text[at] === ',') {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  const last = text.slice(start).trim();
  return last === '' ? parts : [...parts, last];
}

/** The text without blanks, with one spelling of fractions and zero points. */
export function squeeze(text: string): string {
  return text
    .replaceAll(/\s+/g, '')
    .replaceAll(/\d+\.\d+(?:e[+-]\d+)?/g, (fraction) => String(Number(fraction)))
    .replaceAll(/(\d):0(?=[,}>])/g, '$1');
}

function shapedType(text: string): string {
  const torch = /^!torch\.v?tensor\b/.exec(text)?.[0] === '!torch.tensor' ? 'torch-tensor' : 'vtensor';
  if (/^!torch\.v?tensor$/.test(text)) return `${torch}<*xunk>`;
  const [, list, element] = /^!torch\.v?tensor<(\*|\[[^\]]*\]),([^,]*).*>$/.exec(text) ?? [];
  if (list !== undefined) {
    const sizes = list === '*' ? [list] : splitList(list.slice(1, -1));
    return `${torch}<${squeeze([...sizes, element!].join('x'))}>`;
  }
  const [, kind, content] = /^(tensor|memref|vector)<(.*)>$/.exec(text) ?? [];
  if (kind === undefined) return squeeze(text);
  let rest = splitList(content!)[0]!;
  const sizes: string[] = [];
  for (let size; (size = /^(\*|\?|\d+|\[\d+\])x/.exec(rest)) !== null; rest = rest.slice(size[0].length))
    sizes.push(size[1]!.startsWith('[') ? '?' : size[1]!);
  return `${kind}<${squeeze([...sizes, rest].join('x'))}>`;
}

function readMaps(properties: string): string | null {
  const list = /\bindexing_maps = \[(.*?>)\]/.exec(properties)?.[1];
  if (list === undefined) return null;
  return splitList(list)
    .map((map) => {
      const [, dimensions, results] = /^affine_map<\(([^)]*)\)(?:\[[^\]]*\])? -> \((.*)\)>$/.exec(map) ?? [];
      if (dimensions === undefined) return map;
      const plain = splitList(results!).map((result) => /^d(\d+)$/.exec(result)?.[1] ?? '*');
      return `${splitList(dimensions).length}(${plain.join(',')})`;
    })
    .join(' ');
}

function readIterators(properties: string): string | null {
  const list = /\biterator_types = \[(.*?)\]/.exec(properties)?.[1];
  if (list === undefined) return null;
  return [...list.matchAll(/iterator_type<(\w+)>/g)].map(([, kind]) => kind!).join(' ');
}
