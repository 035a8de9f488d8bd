// A canonical text of a program: equal for programs that differ only in names of functions and values, in the order of functions, or in dead
// code. Pure.
import { bufferOf } from '../system/bytes.ts';
import { sha256 } from '../system/hash.ts';
import { stringOf, tree, type GenericOperation, type TreeNode } from 'mlir-parser-ts';
import { nameOfSymbol, SYMBOL } from '../compiler/symbol.ts';

/** Operations without effects, if they have results and their regions have only such operations. */
const PURE = /^(?:arith|complex|linalg|math|tensor)\./;

const YIELD = /^(?:linalg|tensor)\.yield$/;

const STRING = String.raw`"(?:[^"\\]|\\.)*"`;

/** The tokens with names in them. A value's group is 1, a symbol's 2, a string's 3, a resource's 4. */
const NAMES = new RegExp(`(%[\\w$.-]+)|(${SYMBOL})|(${STRING})|dense_resource<(${STRING}|[^>]*)>`, 'g');

const RESOURCES = new RegExp(
  String.raw`^\{-#\s*dialect_resources: \{\s*builtin: \{((?:\s*(?:${STRING}|[\w$.-]+): "0x\w*",?)*)\s*\}\s*\}\s*#-\}$`,
);
const RESOURCE = new RegExp(`(${STRING}|[\\w$.-]+): ("0x\\w*")`, 'g');

/** Text that is not understood well enough. */
class OpaqueError extends Error {}

/**
 * Digest of a program, hexadecimal. A function counts by its content: where it is called, and once if it is public.
 * @param input a module in the generic form, as the compiler prints it with `--mlir-print-local-scope`
 * @returns null for text that is not understood, for recursion, and for functions whose names are strings of the program
 */
export function canonicalDigest(input: Uint8Array): string | null {
  try {
    return digestOf(new Canonical(input).parts());
  } catch (error) {
    // The text decides the depth of recursion.
    if (error instanceof OpaqueError || error instanceof RangeError) return null;
    throw error;
  }
}

const digestOf = (value: unknown): string => sha256(JSON.stringify(value));

function operationOf(node: TreeNode | undefined): GenericOperation {
  if (node?.kind !== 'operation' || node.results.length < node.resultTypes.length) throw new OpaqueError();
  return node;
}

const childrenOf = ({ regions }: GenericOperation): GenericOperation[] =>
  regions.flat().flatMap(({ nodes }) => nodes.map(operationOf));

const isPure = (operation: GenericOperation): boolean =>
  PURE.test(operation.name) &&
  operation.results.length > 0 &&
  childrenOf(operation).every((child) => YIELD.test(child.name) || isPure(child));

/** The operations in a tree that results or effects depend on, and the others without those inside them. */
function livenessIn(root: GenericOperation) {
  const [live, dead]: [GenericOperation[], GenericOperation[]] = [[], []];
  const used = new Set<string>();
  const isUsed = ({ results }: GenericOperation) => results.some((one) => used.has(one));
  const visit = (operation: GenericOperation) => {
    if (operation !== root && !isUsed(operation) && isPure(operation)) {
      dead.push(operation);
      return;
    }
    live.push(operation);
    for (const operand of operation.operands) used.add(operand);
    for (const child of childrenOf(operation).toReversed()) visit(child);
  };
  visit(root);
  // Blocks may be in any order, so a use can precede its operation.
  if (dead.some(isUsed)) throw new OpaqueError();
  return { live, dead };
}

class Canonical {
  /** One character for each byte. */
  readonly #text: string;
  readonly #module: GenericOperation;
  readonly #operations: readonly GenericOperation[];
  readonly #resources: ReadonlyMap<string, string>;
  /** By name. Functions without a body are known by their names outside, so they are not here. */
  readonly #functions = new Map<string, GenericOperation>();
  /** Digests of functions by name; null while a function is being read. */
  readonly #contents = new Map<string, string | null>();

  constructor(input: Uint8Array) {
    this.#text = bufferOf(input).toString('latin1');
    const [module, resources, ...others] = tree(input);
    this.#module = operationOf(module);
    if (this.#module.name !== 'builtin.module' || others.length > 0) throw new OpaqueError();
    this.#resources = this.#readResources(resources);
    this.#operations = childrenOf(this.#module);
    for (const operation of this.#operations) {
      const isOwn = /^(?:func|util)\.func$/.test(operation.name) && operation.regions.flat().length > 0;
      const name = isOwn ? this.#stringIn(operation, 'sym_name') : null;
      if (name === null) continue;
      if (this.#functions.has(name)) throw new OpaqueError();
      this.#functions.set(name, operation);
    }
  }

  /** The module's attributes, its public functions in the order of their digests, and its other operations. */
  parts(): unknown {
    const functions = new Set(this.#functions.values());
    const { attributes } = this.#module;
    return [
      attributes.filter(({ name }) => name !== 'sym_name').map(({ start, end }) => this.#renamed(start, end)),
      [...this.#functions]
        .filter(([, one]) => this.#stringIn(one, 'sym_visibility') !== 'private')
        .map(([name]) => this.#contentOf(name))
        .sort(),
      this.#operations.flatMap((one) => (functions.has(one) ? [] : [this.#textOf(one)])),
    ];
  }

  #readResources(node: TreeNode | undefined): Map<string, string> {
    if (node === undefined) return new Map();
    const section = RESOURCES.exec(this.#text.slice(node.start, node.end))?.[1];
    if (section === undefined) throw new OpaqueError();
    return new Map(Array.from(section.matchAll(RESOURCE), ([, name, blob]) => [name!, blob!]));
  }

  /** The value of a string attribute; null for none. */
  #stringIn({ attributes }: GenericOperation, name: string): string | null {
    const one = attributes.find((attribute) => attribute.name === name);
    return one === undefined ? null : stringOf(this.#text.slice(one.start, one.end).replace(/^[^"]*/, ''));
  }

  #contentOf(name: string): string {
    const known = this.#contents.get(name);
    if (known === null) throw new OpaqueError();
    if (known !== undefined) return known;
    this.#contents.set(name, null);
    const content = digestOf(this.#textOf(this.#functions.get(name)!, 'sym_name'));
    this.#contents.set(name, content);
    return content;
  }

  /** The text of an operation without dead code and without the attribute `left`. */
  #textOf(root: GenericOperation, left?: string): string {
    const { live, dead } = livenessIn(root);
    // Symbols in tables below the module are not resolved.
    if (live.some((one) => one !== root && this.#stringIn(one, 'sym_name') !== null)) throw new OpaqueError();
    const dropped = new Set([...dead, ...root.attributes.filter(({ name }) => name === left)]);
    const parts = [...dead, ...live.flatMap(({ attributes }) => attributes)];
    const values = new Map<string, number>();
    let at = root.start;
    let text = '';
    for (const part of parts.sort((a, b) => a.start - b.start)) {
      text += this.#renamed(at, part.start, values);
      if (!dropped.has(part)) text += this.#renamed(part.start, part.end);
      at = part.end;
    }
    return (text + this.#renamed(at, root.end, values)).replaceAll(/\n\s*/g, '\n');
  }

  /** @param values numbers of values by name; absent for attributes, which have no values */
  #renamed(start: number, end: number, values?: Map<string, number>): string {
    const rename = (token: string, value?: string, symbol?: string, string?: string, resource?: string) => {
      if (value !== undefined) {
        if (values === undefined) return token;
        if (!values.has(value)) values.set(value, values.size);
        return `%${values.get(value)!}`;
      }
      if (symbol !== undefined) {
        const name = nameOfSymbol(symbol);
        return this.#functions.has(name) ? `@${this.#contentOf(name)}` : token;
      }
      // Such a string may stand for the function.
      if (string !== undefined && this.#functions.has(stringOf(string) ?? '')) throw new OpaqueError();
      if (resource === undefined) return token;
      const blob = this.#resources.get(resource);
      if (blob === undefined) throw new OpaqueError();
      return `dense_resource<${blob}>`;
    };
    return this.#text.slice(start, end).replaceAll(NAMES, rename);
  }
}
