// URLs of servers, as far as settings go: what is one, and how it is shown. The password is never shown, nor what may be one.

/** What begins like a URL of a PostgreSQL server. */
export const isServer = (text: string): boolean => /^postgres(ql)?:/i.test(text);

/**
 * The URL; null when it is none. A password with a `/`, `?` or `#` that is not written as `%XX` ends the host too early, and
 * the rest of it would pass for a path: that shows by its `@`.
 */
function readUrl(text: string): URL | null {
  const url = /^postgres(ql)?:\/\//i.test(text) ? URL.parse(text) : null;
  if (url === null || url.hash !== '' || `${url.pathname}${url.search}`.includes('@')) return null;
  return url;
}

/** Whether a text can be read as the URL of a PostgreSQL server. */
export const isTeamAddress = (text: string): boolean => readUrl(text) !== null;

/** The same text, for people: `***` in place of a password, and of all of a URL that cannot be read. */
export function withoutPassword(text: string): string {
  const url = readUrl(text);
  if (url === null) return '***';
  if (url.password !== '') url.password = '***';
  if (url.searchParams.has('password')) url.searchParams.set('password', '***');
  return url.href;
}
