// Decides about a program by the records of the database, without tuning.
import { lookUp } from '../decision/look-up.ts';
import type { Decision, Override } from '../decision/decision.ts';
import type { FormedProgram } from '../plan/rewritten.ts';
import { programMemory, inProgram } from '../running/program-memory.ts';
import { programOf } from '../running/program-notes.ts';
import { knownTimes } from '../running/program-times.ts';
import type { InjectRoute } from '../settings/settings.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import type { Reason } from '../system/reason.ts';
import { inBetterForms } from '../wrapper/program-forms.ts';
import { atDevice, openIfThere } from './context.ts';

interface Asked {
  readonly inject: InjectRoute;
  /** The reason for workloads without a record. */
  readonly whyNot: (site: Site) => Reason;
  /** Decides before the records. */
  readonly override?: Override | undefined;
}

/** The program in its best known forms, its decisions, and the times of its dispatches. */
export async function decideByRecords(
  { command: asked, inspected: read }: FormedProgram,
  surroundings: Surroundings,
  { inject, whyNot, override }: Asked,
) {
  const store = await openIfThere(surroundings);
  const written = { command: asked, inspected: atDevice(read, store, surroundings) };
  const { program, ...better } = await inBetterForms(written, store, surroundings);
  const { command, inspected } = program;
  const { input, site } = inspected;
  const lookup = lookUp(store, input, site, surroundings.settings, override);
  const memory = programMemory.recall(store, programOf(command, inspected));
  const found = lookup.decide(new Map(), whyNot(site));
  const decisions: readonly Decision[] = inProgram(found, memory, lookup.marked, inject);
  const times = knownTimes(program, store);
  store?.close();
  return { ...better, command, inspected, decisions, times };
}
