// The user's data for the functions of a program.
import { statSync } from 'node:fs';
import { elementBytes, type RuntimeType } from '../input/runtime-type.ts';
import { callName, isExtraCall, type ProgramFunction } from '../input/signature.ts';
import { isEmpty, pathsOf, type OwnArgument, type OwnData } from '../settings/own-data.ts';
import { piecesOfFile } from '../system/bytes.ts';
import { createDigest } from '../system/digest.ts';
import { fileIdentity } from '../system/files.ts';
import { formatBytes } from '../system/format.ts';
import { resultOr } from '../system/result-or.ts';
import { UserError } from '../system/user-error.ts';
import { isFloat } from '../workload/element-type.ts';
import { typeName } from '../workload/tensor.ts';
import { fileValue, tensorIn, typeIn, type FileValue } from './tensor-file.ts';

/** The user's values of `--input=` in one call, by the number of the argument. The other arguments are generated. */
export type Given = ReadonlyMap<number, string>;

/** Data that the program cannot take. */
export class OwnDataError extends UserError {
  override readonly name = 'OwnDataError';
}

/** Larger files are known by their size and time. */
const MOST_DIGESTED = 2 ** 26;

/** Text that changes with the data, which does not depend on the machine for files of up to 64 MiB; null without data. */
export async function dataIdentity(data: OwnData): Promise<string | null> {
  if (isEmpty(data)) return null;
  const digestOf = await createDigest();
  const contents = pathsOf(data).map((path) => {
    const size = resultOr(() => statSync(path).size, 0);
    return size > MOST_DIGESTED ? fileIdentity(path) : resultOr(() => digestOf(piecesOfFile(path)), null);
  });
  const places = data.arguments.map((one) => ({
    ...one,
    values: one.values.map((value) => fileValue(value)?.prefix ?? value),
  }));
  return digestOf([
    Buffer.from(JSON.stringify([places, data.parameters.map(({ scope }) => scope), contents])),
  ]);
}

/**
 * The data of each call. A call that we add at another size is left out if the data have another size.
 * @param functions the calls of the program, those of a function in their order
 * @throws OwnDataError for a name that does not exist, and for files that are missing or of another type
 */
export function dataOf(
  { arguments: all, parameters }: OwnData,
  functions: readonly ProgramFunction[],
): ReadonlyMap<ProgramFunction, Given> {
  for (const { path } of parameters) requireFile(path);
  const given = new Map<ProgramFunction, Map<number, string>>(functions.map((one) => [one, new Map()]));
  for (const one of all) {
    const calls = callsFor(one, functions);
    const asked = calls.filter((called) => !isExtraCall(called));
    const { argument, values } = one;
    if (calls.length === 0) continue;
    if (values.length > 1 && values.length !== asked.length)
      throw new OwnDataError(
        `${placeOf(one)} has ${values.length} files: give one, or one for each of its ${asked.length} calls`,
      );
    for (const called of calls) {
      const own = values.length === 1 ? values[0] : values[asked.indexOf(called)];
      const problem = own === undefined ? 'has no file' : problemOf(own, called.arguments[argument]!);
      if (problem === null) given.get(called)?.set(argument, own!);
      else if (isExtraCall(called)) given.delete(called);
      else throw new OwnDataError(`${placeOf(one)} of @${callName(called)} ${problem}`);
    }
  }
  return given;
}

const placeOf = ({ function: name, argument }: OwnArgument) =>
  `${name === null ? '' : `${name}.`}arg${argument}`;

/** The calls that an entry is for. @throws OwnDataError */
function callsFor(one: OwnArgument, functions: readonly ProgramFunction[]): readonly ProgramFunction[] {
  const names = [...new Set(functions.map(({ name }) => name))];
  if (one.function === null && names.length > 1)
    throw new OwnDataError(
      `arg${one.argument}: the program has several functions, so name one: ${names.map((name) => `${name}.arg${one.argument}`).join(', ')}`,
    );
  const calls = functions.filter(({ name }) => one.function === null || name === one.function);
  const [first] = calls;
  if (first === undefined) {
    const known = names.length === 0 ? 'none is known' : `they are ${names.join(', ')}`;
    throw new OwnDataError(`${placeOf(one)}: the program has no such function (${known})`);
  }
  // Without the types of all arguments the function is not called.
  const supported = calls.filter(({ unsupported }) => unsupported === null);
  const { length } = first.arguments;
  if (supported.length > 0 && one.argument >= length)
    throw new OwnDataError(
      `${placeOf(one)}: @${first.name} has ${length === 0 ? 'no arguments' : `the arguments arg0 to arg${length - 1}`}`,
    );
  return supported;
}

/** Why a value is none for an argument; null if it is one, or if its type is not known here. @throws OwnDataError */
function problemOf(value: string, type: RuntimeType): string | null {
  const file = fileValue(value);
  if (file !== null) requireFile(file.path);
  const own = file === null ? typeIn(value) : typeOfFile(file);
  if (own === null)
    return type.shape === null || file !== null ? null : `takes ${shown(type)}, and not "${value}"`;
  return isSame(own, type) ? null : `takes ${shown(type)}, and ${file?.path ?? 'the value'} is ${shown(own)}`;
}

/** @throws OwnDataError for a raw file of another size */
function typeOfFile(file: FileValue): RuntimeType | null {
  const tensor = tensorIn(file);
  const size = tensor === null ? 0 : statSync(file.path).size;
  if (tensor !== null && (file.prefix === '' ? size < tensor.begin + tensor.bytes : size !== tensor.bytes))
    throw new OwnDataError(
      `${file.path} has ${formatBytes(size)}, and ${shown(tensor)} takes ${formatBytes(tensor.bytes)}`,
    );
  return tensor;
}

const shown = (type: RuntimeType) =>
  type.shape === null ? type.elementType : typeName({ ...type, shape: type.shape });

/** Whether the runtime takes one for the other. It tells signed integers from others itself. */
const isSame = (own: RuntimeType, wanted: RuntimeType): boolean =>
  own.shape?.join() === wanted.shape?.join() &&
  isFloat(own.elementType) === isFloat(wanted.elementType) &&
  elementBytes(own.elementType) === elementBytes(wanted.elementType);

/** @throws OwnDataError */
function requireFile(path: string): void {
  const status = resultOr(() => statSync(path), undefined);
  if (status?.isFile() !== true)
    throw new OwnDataError(
      `${path} ${status === undefined ? 'does not exist, or cannot be read' : 'is not a file'}`,
    );
}
