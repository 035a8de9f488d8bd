// Decides about a program by the records of the database, without tuning.
import type { Decision } from '../decision/decision.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { knownTimes } from '../running/program-times.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import type { TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import type { Reason } from '../system/reason.ts';
import { OpenProgram, type Means } from '../wrapper/open-program.ts';
import { openWithBases } from './database.ts';
import { atDevice } from './input.ts';

interface Asked extends Pick<Means, 'inject' | 'override'> {
  /** The reason for workloads without a record. */
  readonly whyNot: (site: Site) => Reason;
}

/** The program in its best known forms, its decisions, and the times of its dispatches. */
export async function decideByRecords(
  { command: asked, inspected: read }: FormedProgram,
  surroundings: Surroundings,
  { inject, whyNot, override }: Asked,
) {
  using store = await openWithBases(read.site, surroundings);
  const written = { command: asked, inspected: atDevice(read, store, surroundings) };
  const means = { store, surroundings, override, inject };
  const { open: program, better } = await OpenProgram.inBetterForms(written, means);
  const { command, inspected } = program;
  const found = program.decide(new Map(), whyNot(inspected.site));
  const { target, device, compiler } = placeOf(inspected.site);
  const open = found.flatMap(({ code, tunable }) =>
    code === 'no-record' && tunable !== null ? [tunable.key] : [],
  );
  const others = open.length === 0 ? [] : (store?.findRecords(open, target, compiler) ?? []);
  const decisions = found.map((one) => withOtherDevice(one, others, device));
  return { ...better, command, inspected, decisions, times: knownTimes(program, store) };
}

/** A decision without a record, with the device of a record that this device does not use. */
export function withOtherDevice<D extends Pick<Decision, 'code' | 'reason' | 'tunable'>>(
  decision: D,
  records: readonly Pick<TuningRecord, 'workload' | 'device'>[],
  device: string,
): D {
  const { code, tunable } = decision;
  const isOther = (one: (typeof records)[number]) => one.workload === tunable?.key && one.device !== device;
  const other = code === 'no-record' ? records.find(isOther)?.device : undefined;
  if (other === undefined) return decision;
  const reason = `no record for ${lessWords(device, other)}; there is one for ${lessWords(other, device)}`;
  return { ...decision, reason };
}

/** The words of a device that another one lacks, such as `threads=2`; all without such words. */
function lessWords(device: string, other: string): string {
  const others = other.split(' ');
  const own = device.split(' ').filter((word) => !others.includes(word));
  return own.length === 0 ? device : own.join(' ');
}
