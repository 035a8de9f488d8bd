// URLs of servers in settings: validation, and a form without the password for messages.

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
