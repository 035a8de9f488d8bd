/** Makes files the current build of a folder, unless they equal it. Removes builds that were replaced at least a day ago. */
export function makeCurrent(
  folder: string,
  files: readonly { readonly name: string; readonly contents: Uint8Array }[],
): Promise<void>;
