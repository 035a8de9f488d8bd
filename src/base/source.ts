// Where a base is published: a folder, or a web server with GET, and PUT for the inbox.
import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, copyFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BaseAddress } from '../settings/address.ts';
import { fileIdentity } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { limited } from '../system/limited.ts';
import { replaceFile } from '../system/temporary-files.ts';
import { refusalOf } from '../system/user-files.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { HEAD, LARGEST_HEAD } from './head.ts';

/** Folder of the inbox below a base. */
export const INBOX = 'inbox';

/** Every method rejects with a UserError that names the cause. */
export interface Source {
  /** The text of the head, and a tag that is equal for equal heads; null if it has this tag. */
  readonly head: (
    tag: string | null,
  ) => Promise<{ readonly text: string; readonly tag: string | null } | null>;
  /** Copies a published file of this size. */
  readonly get: (name: string, bytes: number, to: string) => Promise<void>;
  /** Puts a file into the inbox. */
  readonly put: (name: string, from: string) => Promise<void>;
}

export interface Access {
  /** The public key of the setting. */
  readonly key?: string | undefined;
  /** Command that prints a token. */
  readonly token?: string | undefined;
}

export function sourceAt(address: BaseAddress, access: Access): Source {
  const source = address.kind === 'folder' ? inFolder(address.path) : onWeb(new URL(address.url), access);
  const named =
    <Arguments extends unknown[], T>(action: (...args: Arguments) => Promise<T>) =>
    async (...args: Arguments): Promise<T> => {
      try {
        return await action(...args);
      } catch (error) {
        throw error instanceof UserError ? error : new UserError(causeOf(error), { cause: error });
      }
    };
  return { head: named(source.head), get: named(source.get), put: named(source.put) };
}

/** Node's `fetch` hides the cause of a failure behind an error without words. */
function causeOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const cause = error instanceof Error ? error.cause : undefined;
  return refusalOf(cause instanceof Error && cause.message !== '' ? cause : error);
}

const inFolder = (folder: string): Source => ({
  head: (tag) => {
    const path = join(folder, HEAD);
    const now = fileIdentity(path);
    if (now !== null && now === tag) return Promise.resolve(null);
    if (statSync(path).size > LARGEST_HEAD) throw new UserError(`${HEAD} is too large`);
    return Promise.resolve({ text: readFileSync(path, 'utf8'), tag: now });
  },
  get: async (name, bytes, to) => {
    const path = join(folder, name);
    if (statSync(path).size !== bytes) throw new UserError(`${name} is cut off, or being written`);
    await pipeline(createReadStream(path), createWriteStream(to));
  },
  put: (name, from) => {
    makeFolder(join(folder, INBOX));
    replaceFile(join(folder, INBOX, name), (temporary) => {
      copyFileSync(from, temporary);
    });
    return Promise.resolve();
  },
});

/** Limits of a request, in milliseconds. */
const HEAD_MS = 30_000;
const FILE_MS = 600_000;
const TOKEN_MS = 10_000;

function onWeb(root: URL, { key, token }: Access): Source {
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(root.hostname);
  let headers: Record<string, string> | undefined;
  const request = async (path: string, limit: number, init: RequestInit = {}) => {
    if (root.protocol === 'http:' && !isLocal && key === undefined)
      throw new UserError(
        'anybody on the way can change what http:// carries: use https://, or set team-key',
      );
    headers ??= token === undefined ? {} : { authorization: `Bearer ${printed(token)}` };
    const response = await fetch(new URL(path, root), {
      ...init,
      headers: { ...headers, ...(init.headers as Record<string, string>) },
      // A token must not reach another server.
      redirect: 'manual',
      signal: AbortSignal.timeout(limit),
    });
    const { status, statusText } = response;
    if (status >= 300 && status < 400 && status !== 304)
      throw new UserError(
        `it redirects to ${response.headers.get('location') ?? 'another address'}: set team to that`,
      );
    if (status === 401 || status === 403)
      throw new UserError(
        `${status} ${statusText}: ${token === undefined ? 'set team-token to a command that prints a token' : 'the token is refused'}`,
      );
    if (status >= 400) throw new UserError(`${path}: ${status} ${statusText}`);
    return response;
  };
  return {
    head: async (tag) => {
      const response = await request(
        HEAD,
        HEAD_MS,
        tag === null ? {} : { headers: { 'if-none-match': tag } },
      );
      if (response.status === 304) return null;
      return { text: await textOf(response), tag: response.headers.get('etag') };
    },
    get: async (name, bytes, to) => {
      const { body } = await request(name, FILE_MS);
      await pipeline(
        Readable.fromWeb(body as never),
        (chunks: AsyncIterable<Uint8Array>) => limited(chunks, bytes, `${name} is longer than its head says`),
        createWriteStream(to),
      );
      const { size } = statSync(to);
      if (size < bytes) throw new UserError(`${name} is cut off: ${size} of ${bytes} bytes`);
    },
    put: async (name, from) => {
      await request(`${INBOX}/${name}`, FILE_MS, { method: 'PUT', body: readFileSync(from) });
    },
  };
}

async function textOf({ body }: Response): Promise<string> {
  const chunks = limited(body as unknown as AsyncIterable<Uint8Array>, LARGEST_HEAD, `${HEAD} is too large`);
  return Buffer.concat(await Array.fromAsync(chunks)).toString();
}

function printed(command: string): string {
  try {
    return execFileSync('/bin/sh', ['-c', command], { timeout: TOKEN_MS, encoding: 'utf8' }).trim();
  } catch (error) {
    throw new UserError(`the command of team-token failed: ${messageOf(error).split('\n')[0]!}`, {
      cause: error,
    });
  }
}
