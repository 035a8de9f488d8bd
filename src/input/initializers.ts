// Removes initializers from a program after the phase `flow`: they run only once, when the program is loaded.

/** A module-level block, up to its closing line. */
const INITIALIZER = /^ {2}util\.initializer\b[^]*?^ {2}\}[^\n]*\n/gm;
const EXECUTABLE = /^ {2}flow\.executable private @([\w.$-]+) \{[^]*?^ {2}\}[^\n]*\n/gm;
const DISPATCHED = /\bflow\.dispatch @([\w.$-]+)::/g;

/** The text without initializers, and without executables that only initializers dispatch. */
export function withoutInitializers(flow: Uint8Array): Uint8Array {
  const text = Buffer.from(flow.buffer, flow.byteOffset, flow.byteLength).toString('latin1');
  const rest = text.replace(INITIALIZER, '');
  if (rest.length === text.length) return flow;
  const dispatched = new Set([...rest.matchAll(DISPATCHED)].map(([, name]) => name));
  const own = rest.replace(EXECUTABLE, (executable, name: string) =>
    dispatched.has(name) ? executable : '',
  );
  return Buffer.from(own, 'latin1');
}
