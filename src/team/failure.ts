// Messages about failures of a team's server. None contains a password.
import { errorCode } from '../store/errors.ts';
import { messageOf } from '../system/tell.ts';
import type { Address } from './address.ts';
import { PROTOCOL, type Failure, type FailureKind } from './team.ts';

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

/** Whether the server rejected the data of a line, so that a push without the line can succeed. */
export const isAboutData = (error: unknown): boolean => /^2[123]...$|^54...$/.test(errorCode(error));

/** @param password of the connection, from any source */
export function failureOf(error: unknown, { shown }: Address, password: string): Failure {
  const message = messageOf(error);
  const kind = kindOf(errorCode(error), message);
  const said = withoutSecret(quoted(message || errorCode(error)), password);
  return { kind, reason: `the team's server ${shown} ${sentence(kind, said)}` };
}

function sentence(kind: FailureKind, said: string): string {
  switch (kind) {
    case 'denied':
      return `denies access (${said}): correct the setting "team", then run iree-tuned team sync`;
    case 'incompatible':
      return `lacks the tables of iree-compile-tuned (${said}): its administrator must run iree-tuned team migrate`;
    case 'rejected':
      return `refuses this: ${said}`;
    case 'unreachable':
      return `cannot be reached: ${said}`;
  }
}

/** For a server whose protocol differs by more than one. */
export function protocolFailure({ shown }: Address, protocol: unknown): Failure {
  const way =
    typeof protocol === 'number' && protocol > PROTOCOL
      ? 'update iree-compile-tuned here'
      : 'its administrator must run iree-tuned team migrate with this version';
  return {
    kind: 'incompatible',
    reason: `the team's server ${shown} speaks protocol ${quoted(String(protocol))}, and this iree-compile-tuned ${PROTOCOL}: ${way}`,
  };
}

/** For an answer of unknown form. */
export const unknownAnswerFailure = ({ shown }: Address): Failure => ({
  kind: 'incompatible',
  reason: `the team's server ${shown} sent an answer of unknown form: the address may belong to another service`,
});
