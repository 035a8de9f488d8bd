/** Quotes one argument for a response file. */
export function quoteArgument(argument: string): string {
  if (/^[\w./:=,+@%-]+$/.test(argument)) return argument;
  return `"${argument.replace(/[\\"]/g, '\\$&')}"`;
}
