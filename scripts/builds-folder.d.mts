/**
 * Makes files the current build of a folder, where they are another one than what is current, and removes builds that were
 * replaced a day ago or longer.
 */
export function makeCurrent(
  folder: string,
  files: readonly { readonly name: string; readonly contents: Uint8Array }[],
): Promise<void>;
