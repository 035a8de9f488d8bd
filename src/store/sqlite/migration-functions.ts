// SQL functions for migrations. Never change a published function, like a published migration.
import type { Database } from 'better-sqlite3';
import { sha256 } from '../../system/hash.ts';
import { shapeOf, type Shape } from '../../workload/shape.ts';
import { isWorkload } from '../../workload/workload.ts';
import { plainText, parseJson } from '../validate.ts';

export function addMigrationFunctions(db: Database): void {
  const pure = { deterministic: true };
  db.function('plain', pure, (text: unknown, longest: unknown) =>
    typeof text === 'string' ? plainText(text, Number(longest)) : null,
  );
  db.function('trial_id', { ...pure, varargs: true }, (...row: unknown[]) =>
    sha256(JSON.stringify(row)).slice(0, 32),
  );
  db.function('shape_structure', pure, (form: unknown) => storedShape(form)?.structure ?? null);
  db.function('shape_place', pure, (form: unknown) => storedShape(form)?.place ?? null);
  db.function(
    'shape_size',
    pure,
    (form: unknown, nth: unknown) => storedShape(form)?.sizes[Number(nth)] ?? null,
  );
  db.function('claim_digest', { ...pure, varargs: true }, (...row: unknown[]) => claimDigest(row));
}

/** Shape of a stored workload; null if it is invalid. */
function storedShape(text: unknown): Shape | null {
  const form = parseJson(text);
  return isWorkload(form) ? shapeOf(form) : null;
}

/** The digest of `claim.ts` for a row with any configuration. */
function claimDigest(row: readonly unknown[]): string | null {
  const [workload, target, device, compiler, text, ...others] = row;
  const configuration = parseJson(text);
  if (configuration === undefined) return null;
  const [version, confidence, ratio, low, high, defaultSeconds, seconds] = others;
  const [processes, repetitions, noiseFloor, maxError, complete, createdAt, createdBy, machine, tool] =
    others.slice(7);
  const measured = { version, confidence, ratio, low, high, defaultSeconds, seconds };
  const told = { processes, repetitions, noiseFloor, maxError, complete: complete === 1 };
  return sha256(
    JSON.stringify({
      ...{ type: 'claim', version: 1, workload, target, device, compiler, configuration },
      ...{ evidence: { ...measured, ...told }, createdAt, createdBy, machine, tool },
    }),
  );
}
