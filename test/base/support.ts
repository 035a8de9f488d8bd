// Databases, bases and a web server for tests.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { publish } from '../../src/base/publish.ts';
import { refresh } from '../../src/base/refresh.ts';
import type { Access } from '../../src/base/source.ts';
import type { BaseAddress } from '../../src/settings/address.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import type { Origin, Store } from '../../src/store/store.ts';
import { shortHash } from '../../src/system/hash.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { DECISION, subjectOf } from '../store/samples.ts';

/** A database that an action has filled. @returns its path */
export function databaseWith(action: (store: Store) => void, origin = originOf('ada')): string {
  const path = join(temporaryDirectory(), 'tuning.db');
  using store = openSqliteStore(path, { origin });
  action(store);
  return path;
}

const originOf = (createdBy: string): Origin => ({ createdBy, machine: `${createdBy}-pc`, tool: '1.0.0' });

/** A database with a record of a matmul of m rows. */
export const databaseOf = (m: number, createdBy = 'ada'): string =>
  databaseWith((store) => {
    store.putRecord(subjectOf(m), DECISION);
  }, originOf(createdBy));

/** Target and compiler of all samples. */
export const PLACE = { target: subjectOf(1).target, compiler: subjectOf(1).compiler };

/** A base in a new folder. */
export async function baseOf(...files: readonly string[]): Promise<string> {
  const folder = temporaryDirectory();
  await publish({ folder, cacheDirectory: temporaryDirectory(), files });
  return folder;
}

/** A machine that uses a base. */
export function reader(address: BaseAddress, access: Access = {}) {
  const cacheDirectory = temporaryDirectory();
  return {
    cacheDirectory,
    refresh: (more: Access = access) => refresh({ address, cacheDirectory, places: [PLACE], ...more }),
  };
}

/** Answers a request, or returns false for the usual answer. */
export type Fault = (request: IncomingMessage, response: ServerResponse, path: string) => boolean;

/** A web server for a folder: GET with ETag, and PUT. It ends with the test. */
export async function served(folder: string, fault: Fault = () => false) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = join(folder, decodeURIComponent(request.url!));
    asked.push(`${request.method!} ${request.url!}`);
    if (fault(request, response, path)) return;
    if (request.method === 'PUT') {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        writeFileSync(path, Buffer.concat(chunks));
        response.writeHead(201).end();
      });
      return;
    }
    if (!existsSync(path)) {
      response.writeHead(404).end();
      return;
    }
    const content = readFileSync(path);
    const etag = `"${shortHash(content.toString('latin1'))}"`;
    if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
    else response.writeHead(200, { etag }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const asking = () => asked.splice(0);
  return { url, address: { kind: 'web', url } as const, asked: asking, close };
}
