// The head of a base: it names the current databases, and its publisher signs it.
import type { KeyObject } from 'node:crypto';
import { hasFields, isIntegerWithin, isNumber, isText, listOf, matches, optional } from '../system/data.ts';
import { resultOr } from '../system/result-or.ts';
import { UserError } from '../system/user-error.ts';

/** Keys of a target and a compiler. */
export interface Place {
  readonly target: string;
  readonly compiler: string;
}

/** The database of one place, as a compressed file beside the head. */
export interface Published extends Place {
  /** Name of the file: a digest of the place, and the SHA-256 of the file. */
  readonly file: string;
  /** Size of the file, and of the database, in bytes. */
  readonly bytes: number;
  readonly size: number;
  /** SHA-256 of its lines, which tells equal contents. */
  readonly content: string;
  readonly schema: number;
  readonly claims: number;
}

export interface Head {
  readonly format: typeof FORMAT;
  /** Rises with each change, also if it publishes older content again. */
  readonly sequence: number;
  /** ISO 8601 UTC. Nothing depends on it. */
  readonly time: string;
  readonly databases: readonly Published[];
  /** Base64; absent without a key. */
  readonly signature?: string;
}

/** Name of the head in the folder. */
export const HEAD = 'head.json';

/** Limit of a head in bytes. */
export const LARGEST_HEAD = 2 ** 22;

const FORMAT = 1;

/** Limit of a file and of its database, in bytes. */
const LARGEST = 2 ** 30;

const isSize = (value: unknown) => isIntegerWithin(value, 0, LARGEST);

/** Names of files, which no publisher can turn into paths outside the folder. */
const FILE = /^[0-9a-f]{16}-[0-9a-f]{64}\.db\.gz$/;

const isHead = hasFields<Head>({
  format: (value) => value === FORMAT,
  sequence: (value) => isIntegerWithin(value, 1, Number.MAX_SAFE_INTEGER),
  time: isText,
  databases: listOf(
    hasFields<Published>({
      ...{ target: isText, compiler: isText, file: matches(FILE) },
      ...{ bytes: isSize, size: isSize, content: isText, schema: isNumber, claims: isNumber },
    }),
  ),
  signature: optional(isText),
});

/**
 * Reads a head.
 * @param key public key that must have signed it; undefined for none
 * @throws UserError with the fault
 */
export function readHeadText(text: string, key: string | undefined): Head {
  const value = resultOr((): unknown => JSON.parse(text), undefined);
  if (value === undefined)
    throw new UserError(`${HEAD} is no JSON: it is damaged, or the address is that of another page`);
  const { format } = (value ?? {}) as { readonly format?: unknown };
  if (typeof format === 'number' && format > FORMAT)
    throw new UserError(
      `${HEAD} has format ${format}, of a later version of iree-compile-tuned: update this one`,
    );
  if (!isHead(value)) throw new UserError(`${HEAD} is invalid`);
  if (key !== undefined && !isSignedBy(value, key))
    throw new UserError(
      value.signature === undefined
        ? `${HEAD} is not signed, and the setting team-key asks for a signature`
        : `the signature of ${HEAD} does not fit the setting team-key`,
    );
  return value;
}

/** All but the signature. The order of fields is that of the text. */
const signedBytes = (head: Head): Buffer => Buffer.from(JSON.stringify({ ...head, signature: undefined }));

function isSignedBy(head: Head, key: string): boolean {
  if (head.signature === undefined) return false;
  // Not loaded without a key.
  const { createPublicKey, verify } = process.getBuiltinModule('node:crypto');
  const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' });
  return verify(null, signedBytes(head), publicKey, Buffer.from(head.signature, 'base64'));
}

/** @param key private Ed25519 key; null for no signature */
export function headText(head: Omit<Head, 'format' | 'signature'>, key: KeyObject | null): string {
  const { sign } = process.getBuiltinModule('node:crypto');
  const unsigned: Head = { format: FORMAT, ...head };
  const signature =
    key === null ? {} : { signature: sign(null, signedBytes(unsigned), key).toString('base64') };
  return `${JSON.stringify({ ...unsigned, ...signature }, null, 1)}\n`;
}

/** SHA-256 in the name of a file. */
export const digestIn = ({ file }: Pick<Published, 'file'>): string => file.slice(17, 17 + 64);
