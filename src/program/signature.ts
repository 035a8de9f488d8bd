// The public functions of a program with the types of their arguments and results.
import { Lexer } from './lexer.ts';
import { argumentType, resultElementType, type Convert, type RuntimeType } from './runtime-type.ts';

/** A function that iree-run-module can call. */
export interface ProgramFunction {
  readonly name: string;
  readonly arguments: readonly RuntimeType[];
  /** The element type of each result, in `decodeElements`' spelling where it has one. */
  readonly results: readonly string[];
  /** Why it cannot be called with made-up inputs, or its results not be looked at; then `arguments` is not complete. */
  readonly unsupported: string | null;
}

const FUNCTIONS: ReadonlySet<string> = new Set(['func.func', 'util.func']);
const MODULES: ReadonlySet<string> = new Set(['module', 'builtin.module']);
const VISIBILITIES: ReadonlySet<string> = new Set(['public', 'private', 'nested']);

/** Longest chain of `!a = !b` that is followed. */
const LONGEST_CHAIN = 32;

/**
 * The public functions with a body of a program in MLIR text, in their order. Never throws, whatever the bytes; what is
 * not understood is not there, or is there with the reason.
 * @param convert what the compile makes of an element type; the runtime wants what comes out
 */
export function programSignature(text: Uint8Array, convert: Convert): ProgramFunction[] {
  const lexer = new Lexer(text);
  const aliases = new Map<string, string>();
  const functions: ProgramFunction[] = [];
  let depth = 0;
  for (let previous = ''; ;) {
    const token = lexer.next();
    if (token === '') return functions;
    if (depth === 0 && token === '=' && previous.startsWith('!')) aliases.set(previous, readType(lexer));
    else if (depth === 0 && MODULES.has(token)) depth = enterModule(lexer) ? 1 : 0;
    else if (token === '{') lexer.skipBraces();
    else if (token === '}' && depth > 0) depth--;
    else if (FUNCTIONS.has(token)) {
      const head = readHead(lexer);
      if (head?.isPublic === true && lexer.peek() === '{') functions.push(describe(head, aliases, convert));
    }
    previous = token;
  }
}

/**
 * The same from what `iree-dump-module` prints: every function that has an `iree.abi.declaration`, which those of the
 * torch dialect have not. All conversions are done there.
 */
export function declaredSignature(dump: string): ProgramFunction[] {
  return [...dump.matchAll(/\biree\.abi\.declaration: (?:\w+ )?func (@.*)/g)].flatMap(([, text]) => {
    const head = readHead(new Lexer(Buffer.from(text!)));
    return head === null ? [] : [describe(head, new Map(), (elementType) => elementType)];
  });
}

/** Steps into `module @name attributes {...} {`; false when it is not that. */
function enterModule(lexer: Lexer): boolean {
  if (lexer.peek().startsWith('@')) lexer.next();
  skipAttributes(lexer);
  if (lexer.peek() !== '{') return false;
  lexer.next();
  return true;
}

function skipAttributes(lexer: Lexer): void {
  if (lexer.peek() !== 'attributes') return;
  lexer.next();
  if (lexer.peek() !== '{') return;
  lexer.next();
  lexer.skipBraces();
}

/** A function up to its body, its types in text without blanks. */
interface Head {
  readonly name: string;
  readonly isPublic: boolean;
  readonly arguments: readonly string[];
  readonly results: readonly string[];
}

/** Reads on after `func.func`; null when it goes on in another way than known. */
function readHead(lexer: Lexer): Head | null {
  let token = lexer.next();
  const isPublic = token === 'public' || !VISIBILITIES.has(token);
  if (VISIBILITIES.has(token)) token = lexer.next();
  if (!token.startsWith('@') || lexer.next() !== '(') return null;
  const parameters = readList(lexer);
  if (parameters === null) return null;
  let results: readonly string[] | null = [];
  if (lexer.peek() === '->') {
    lexer.next();
    if (lexer.peek() === '(') {
      lexer.next();
      results = readList(lexer);
    } else results = [readType(lexer)];
  }
  if (results === null) return null;
  skipAttributes(lexer);
  return { name: unquoted(token.slice(1)), isPublic, arguments: parameters, results };
}

/** The types of `%a: T {attributes} loc(...), ...)` or `T, ...)`, the `(` being read; null when it is not closed. */
function readList(lexer: Lexer): string[] | null {
  const types: string[] = [];
  if (lexer.peek() !== ')') {
    do {
      if (types.length > 0) lexer.next();
      if (lexer.peek().startsWith('%')) {
        lexer.next();
        // `%a as T` is a result that is an argument overwritten.
        if (lexer.peek() === ':' || lexer.peek() === 'as') lexer.next();
      }
      types.push(readType(lexer));
      lexer.until(',');
    } while (lexer.peek() === ',');
  }
  return lexer.next() === ')' ? types : null;
}

/** One type, without blanks: a name and what stands in angles right after it. '' when there is none. */
function readType(lexer: Lexer): string {
  if (!/^[A-Za-z!]/.test(lexer.peek())) return '';
  const name = lexer.next();
  if (lexer.peek() !== '<') return name;
  lexer.next();
  const inner = lexer.until();
  return lexer.next() === '>' ? `${name}<${inner.join('')}>` : name;
}

function describe(head: Head, aliases: ReadonlyMap<string, string>, convert: Convert): ProgramFunction {
  const resolve = (type: string) => {
    let resolved = type;
    for (let step = 0; step < LONGEST_CHAIN; step++) resolved = aliases.get(resolved) ?? resolved;
    return resolved;
  };
  const results = head.results.map((type) => resultElementType(resolve(type), convert));
  let unsupported = head.results.length === 0 ? 'it returns nothing that could be looked at' : null;
  const types: RuntimeType[] = [];
  for (const text of head.arguments) {
    const type = argumentType(resolve(text), convert);
    if ('unsupported' in type) unsupported ??= type.unsupported;
    else types.push(type);
  }
  return { name: head.name, arguments: types, results, unsupported };
}

function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  const content = name.slice(1, name.endsWith('"') && name.length > 1 ? -1 : undefined);
  return Buffer.from(content, 'latin1').toString();
}
