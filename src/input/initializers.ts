// A program at the end of `flow` without what it computes once, before any of its functions is called.

/** At the level of the module, up to the line that closes it. */
const INITIALIZER = /^ {2}util\.initializer\b[^]*?^ {2}\}[^\n]*\n/gm;
const EXECUTABLE = /^ {2}flow\.executable private @([\w.$-]+) \{[^]*?^ {2}\}[^\n]*\n/gm;
const DISPATCHED = /\bflow\.dispatch @([\w.$-]+)::/g;

/** The text without initializers and the executables that nothing else dispatches. */
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
