// Reads what `iree-opt --mlir-print-op-generic` prints, line by line and bracket by bracket; shares nothing with the parser.
import { rows } from '../src/table.ts';
import table from '../operations.json' with { type: 'json' };

/** What the compiler's generic print says of one operation. */
export interface Printed {
  readonly name: string;
  /** Line and column in the input, unless the text gives a `loc(...)` of its own. */
  readonly location: string;
  readonly types: readonly string[];
  readonly results: readonly string[];
  /** Null when the print has none: the name alone says what they are. */
  readonly maps: string | null;
  readonly iterators: string | null;
  /** The discardable attributes. */
  readonly dictionary: string;
}

interface Open {
  readonly name: string;
  readonly indent: number;
  readonly head: string;
  /** Whether it counts: not the ones inside of patterns or of other contractions. */
  readonly counts: boolean;
}

/** By what their statement starts with. */
const names: ReadonlySet<string> = new Set(
  rows.filter(({ dictionary }) => dictionary !== 'operator').map(({ name }) => name),
);
/** By what the property `name` of a `torch.operator` says. */
const operators: ReadonlySet<string> = new Set(
  rows.filter(({ dictionary }) => dictionary === 'operator').map(({ name }) => name),
);
const opaque: ReadonlySet<string> = new Set(table.regions.opaque);

/** The operations in a generic print, in the order in which they are written. */
export function readPrint(print: string): Printed[] {
  const found: (Printed | null)[] = [];
  const open: (Open & { readonly place: number })[] = [];
  const lines = print.split('\n');
  let at = 0;
  // Attributes of unknown dialects are printed as they were read, line ends included; a location ends every operation.
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

/** Generics count with two inputs, one output and a reduction. */
function isWanted(name: string, head: string): boolean {
  if (name === 'torch.operator') return operators.has(operatorOf(head));
  if (name !== 'linalg.generic') return names.has(name);
  return head.includes('iterator_type<reduction>') && head.includes('operandSegmentSizes = array<i32: 2, 1>');
}

function operatorOf(head: string): string {
  return /<\{(?:.*, )?name = "([^"]*)"/.exec(head)?.[1] ?? '';
}

/** `"name"(values) <{properties}> ({regions}) {attributes} : (types) -> types loc(...)`, the regions left out. */
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

/** The offset after the bracket that closes the one at `from`. */
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

/** Without blanks, with every fraction and zero point spelled the same way. */
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
