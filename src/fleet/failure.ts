// Messages about failures of the fleet's server. None contains a password.
import { errorCode } from '../store/errors.ts';
import { messageOf } from '../system/tell.ts';
import type { Address } from './address.ts';

/**
 * - `unreachable`: no answer in time, or no connection.
 * - `denied`: the login or the certificate is refused.
 * - `incompatible`: the tables are missing.
 * - `rejected`: the server refuses a statement.
 */
export type FailureKind = 'unreachable' | 'denied' | 'incompatible' | 'rejected';

export interface Failure {
  readonly kind: FailureKind;
  /** Names the server, and the way out. */
  readonly reason: string;
}

const LONGEST = 300;

/** A server's message as one line without control characters. */
const quoted = (text: string): string =>
  text
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, LONGEST);

/** Replaces the password, plain or URL-encoded. */
function withoutSecret(text: string, password: string): string {
  if (password === '') return text;
  return [password, encodeURIComponent(password)].reduce(
    (rest, secret) => rest.replaceAll(secret, '***'),
    text,
  );
}

/** TLS errors that a retry cannot fix. */
const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH)/;

/** The kind by SQLSTATE: authorisation (28), missing schema objects, then data, constraints, limits and permission. */
function kindOf(code: string, message: string): FailureKind {
  if (code.startsWith('28') || CERTIFICATE.test(code)) return 'denied';
  // The driver reports these without a code.
  if (/^SASL|does not support SSL/.test(message)) return 'denied';
  if (['3F000', '42883', '42P01'].includes(code)) return 'incompatible';
  if (/^(?:2[123]|54)...$|^42501$/.test(code)) return 'rejected';
  return 'unreachable';
}

/** @param password of the connection, from any source */
export function failureOf(error: unknown, { shown }: Address, password: string): Failure {
  const message = messageOf(error);
  const kind = kindOf(errorCode(error), message);
  const said = withoutSecret(quoted(message || errorCode(error)), password);
  return { kind, reason: `the fleet's server ${shown} ${sentence(kind, said)}` };
}

function sentence(kind: FailureKind, said: string): string {
  switch (kind) {
    case 'denied':
      return `denies access (${said}): correct the setting "fleet"`;
    case 'incompatible':
      return `has no queue (${said}): iree-tuned team queue --install makes one`;
    case 'rejected':
      return `refuses this: ${said}`;
    case 'unreachable':
      return `cannot be reached: ${said}`;
  }
}
