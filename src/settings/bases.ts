// Addresses of a team's bases in the setting `team`.
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resultOr } from '../system/result-or.ts';

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
