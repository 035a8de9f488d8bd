// The setting `input`: the user's data for runs of a program. Pure.

/** Values for an argument of a function. */
export interface OwnArgument {
  /** Null for the only function of a program. */
  readonly function: string | null;
  /** Its number, from 0. */
  readonly argument: number;
  /** Values of `--input=` of the runtime's tools: one for all calls, or one for each call of the function in their order. */
  readonly values: readonly string[];
}

export interface OwnData {
  readonly arguments: readonly OwnArgument[];
  /** Parameter files. The scope is null if it has no name. */
  readonly parameters: readonly { readonly scope: string | null; readonly path: string }[];
}

/** The place of an entry begins it: `arg0=`, `prefill.arg0=` or `parameters=`. A value may have blanks and semicolons. */
const ENTRY = /(?:^|[;\s]+)(?=(?:(?:[^\s;=]+\.)?arg\d+|parameters)=)/;

const ARGUMENT = /^(?:(.+)\.)?arg(\d+)=(.+)$/s;
const PARAMETERS = /^parameters=(?:([^@=]*)=)?@(.+)$/s;

/** Between files. A list of numbers may have commas, too. */
const NEXT_FILE = /,(?=\w*=?@)/;

/** A text such as `arg3=@tables.npy; parameters=model=@weights.irpa`; null if it is invalid. */
export function parseOwnData(text: string): OwnData | null {
  const found = { arguments: [] as OwnArgument[], parameters: [] as OwnData['parameters'][number][] };
  for (const entry of text.split(ENTRY).map((one) => one.replace(/[;\s]+$/, ''))) {
    if (entry === '') continue;
    const [, called, argument, values] = ARGUMENT.exec(entry) ?? [];
    const [, scope, path] = PARAMETERS.exec(entry) ?? [];
    if (values !== undefined)
      found.arguments.push({
        ...{ function: called?.replace(/^@/, '') ?? null, argument: Number(argument) },
        values: values.includes('@') ? values.split(NEXT_FILE) : [values],
      });
    else if (path !== undefined) found.parameters.push({ scope: scope ?? null, path });
    else return null;
  }
  const places = found.arguments.map((one) => `${one.function ?? ''}.${one.argument}`);
  return new Set(places).size < places.length ? null : found;
}

export const ownDataText = ({ arguments: given, parameters }: OwnData): string =>
  [
    ...given.map(
      (one) => `${one.function === null ? '' : `${one.function}.`}arg${one.argument}=${one.values.join()}`,
    ),
    ...parameters.map(({ scope, path }) => `parameters=${scope === null ? '' : `${scope}=`}@${path}`),
  ].join('; ');

/** The path in a value of `--input=`, with the text before it: `4x8xf32=@raw.bin`. */
const FILE = /^([^@+=]*=|)@(.+)$/s;

/** The same data with other paths. */
export const withPaths = (
  { arguments: given, parameters }: OwnData,
  change: (path: string) => string,
): OwnData => ({
  arguments: given.map((one) => ({
    ...one,
    values: one.values.map((value) =>
      value.replace(FILE, (_, type: string, path: string) => `${type}@${change(path)}`),
    ),
  })),
  parameters: parameters.map((one) => ({ ...one, path: change(one.path) })),
});

export function pathsOf(data: OwnData): string[] {
  const paths: string[] = [];
  withPaths(data, (path) => {
    paths.push(path);
    return path;
  });
  return paths;
}

export const isEmpty = ({ arguments: given, parameters }: OwnData): boolean =>
  given.length === 0 && parameters.length === 0;
