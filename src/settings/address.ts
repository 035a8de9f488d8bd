// Addresses in settings: URLs of servers, with a form without the password for messages, and a team's bases.
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resultOr } from '../system/result-or.ts';

/** Whether a text has the scheme of a PostgreSQL server. */
export const isServer = (text: string): boolean => /^postgres(ql)?:/i.test(text);

/**
 * Parses the URL; null if it is invalid. An unescaped `/`, `?` or `#` in a password ends the host early. The `@` of the host then ends up
 * in the path or the query, so such a URL is invalid.
 */
function readUrl(text: string): URL | null {
  const url = /^postgres(ql)?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null || url.hash !== '' || `${url.pathname}${url.search}`.includes('@')) return null;
  return url;
}

/** Whether a text is a valid URL of a PostgreSQL server. */
export const isServerAddress = (text: string): boolean => readUrl(text) !== null;

/** The URL with `***` for its password; `***` alone for an invalid URL, because any part of it may be the password. */
export function withoutPassword(text: string): string {
  const url = readUrl(text);
  if (url === null) return '***';
  if (url.password !== '') url.password = '***';
  if (url.searchParams.has('password')) url.searchParams.set('password', '***');
  return url.href;
}

/** A folder, or the URL of a folder on a web server, which ends with `/`. */
export type BaseAddress =
  { readonly kind: 'folder'; readonly path: string } | { readonly kind: 'web'; readonly url: string };

/** Reads addresses with commas between them, such as `/mnt/share/tuned, https://host/tuned`; undefined if one is invalid. */
export function readBases(text: string): readonly BaseAddress[] | undefined {
  const all = text.split(',').map((one) => readBase(one.trim()));
  return all.some((one) => one === undefined) ? undefined : (all as BaseAddress[]);
}

function readBase(text: string): BaseAddress | undefined {
  if (isAbsolute(text)) return { kind: 'folder', path: text };
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return undefined;
  if (url.protocol === 'file:')
    return resultOr(() => ({ kind: 'folder', path: fileURLToPath(url) }), undefined);
  if (!['https:', 'http:'].includes(url.protocol)) return undefined;
  return { kind: 'web', url: url.href.replace(/\/*$/, '/') };
}

/** The address as messages show it. */
export const baseText = (address: BaseAddress): string =>
  address.kind === 'folder' ? address.path : address.url;
