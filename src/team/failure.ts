// What went wrong between here and the team's server, in words for people. A password is in none of them.
import { messageOf } from '../system/tell.ts';
import type { Address } from './address.ts';
import { PROTOCOL, type Failure, type FailureKind } from './team.ts';

const LONGEST = 300;

/** What somebody else's program says: one line, without what a terminal would obey. */
const quoted = (text: string): string =>
  text
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, LONGEST);

/** Every spelling in which a password may come back. */
function withoutSecret(text: string, password: string): string {
  if (password === '') return text;
  return [password, encodeURIComponent(password)].reduce(
    (rest, secret) => rest.replaceAll(secret, '***'),
    text,
  );
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** The errors of TLS that a later attempt would meet again. */
const CERTIFICATE =
  /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH)/;

/** PostgreSQL's classes: authorisation; then syntax, for what a schema lacks; data, constraints and limits. */
function kindOf(code: string, message: string): FailureKind {
  if (code.startsWith('28') || CERTIFICATE.test(code)) return 'denied';
  // The driver has no codes for these.
  if (/^SASL|does not support SSL/.test(message)) return 'denied';
  if (['3F000', '42883', '42P01'].includes(code)) return 'incompatible';
  if (/^(?:2[123]|54)...$|^42501$/.test(code)) return 'rejected';
  return 'unreachable';
}

/** Whether a rejection is about one of the lines, so that the others may do without it. */
export const isAboutData = (error: unknown): boolean => /^2[123]...$|^54...$/.test(codeOf(error));

/** @param password the one that was used, wherever it came from */
export function failureOf(error: unknown, { shown }: Address, password: string): Failure {
  const message = messageOf(error);
  const kind = kindOf(codeOf(error), message);
  const said = withoutSecret(quoted(message || codeOf(error)), password);
  return { kind, reason: `the team's server ${shown} ${sentence(kind, said)}` };
}

function sentence(kind: FailureKind, said: string): string {
  switch (kind) {
    case 'denied':
      return `lets nobody in like this (${said}): mend the setting "team", then run iree-tuned sync`;
    case 'incompatible':
      return `has no tables of ours (${said}): its administrator runs iree-tuned team migrate`;
    case 'rejected':
      return `does not take this: ${said}`;
    case 'unreachable':
      return `cannot be reached: ${said}`;
  }
}

export const lateFailure = ({ shown }: Address, limitMs: number): Failure => ({
  kind: 'unreachable',
  reason: `the team's server ${shown} cannot be reached: no answer within ${Math.ceil(limitMs)} ms`,
});

/** Of a server that is more than one protocol away. */
export function protocolFailure({ shown }: Address, protocol: unknown): Failure {
  const way =
    typeof protocol === 'number' && protocol > PROTOCOL
      ? 'update iree-compile-tuned here'
      : 'its administrator runs iree-tuned team migrate with this version';
  return {
    kind: 'incompatible',
    reason: `the team's server ${shown} speaks protocol ${quoted(String(protocol))}, and this iree-compile-tuned ${PROTOCOL}: ${way}`,
  };
}

/** Of an answer that is none. */
export const strangeFailure = ({ shown }: Address): Failure => ({
  kind: 'incompatible',
  reason: `the team's server ${shown} answers what is no answer: something else may stand at that address`,
});
