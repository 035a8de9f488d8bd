// Asks the team's server about misses, and pushes new records to it. Loaded only with a team, after a miss or a search. A server that does
// not answer stops no build.
import type { Device } from '../backend/device.ts';
import { noteCounts } from '../report/counting.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Settings } from '../settings/index.ts';
import type { Site } from '../site/site.ts';
import type { Exchange } from '../store/exchange/exchange.ts';
import type { Line, PartLine } from '../store/exchange/lines.ts';
import { partsOf } from '../store/exchange/parts.ts';
import { openExchange } from '../store/open-exchange.ts';
import { keysOf, placeOf, subjectOf } from '../store/subject.ts';
import { messageOf, tell, writeLog } from '../system/tell.ts';
import { askOnce, type Asked } from '../team/ask-once.ts';
import { afterFailure, breakerState } from '../team/breaker.ts';
import { push, take } from '../team/exchange.ts';
import { openTeam } from '../team/postgres.ts';
import { teamState } from '../team/state.ts';
import type { Question, Received } from '../team/team.ts';
import type { Work } from '../tuning/tune-workloads.ts';

/** Limit of a push, in milliseconds. */
const PUSH_LIMIT_MS = 1000;

/**
 * Asks the team about misses, and writes its records into the database. Never throws.
 * @param missing looks up the present misses
 * @param isTuned whether this build tunes the remaining misses; if not, they go on the team's wanted list
 */
export async function askTeam(
  missing: () => readonly Work[],
  isTuned: boolean,
  url: string,
  site: Site,
  surroundings: Surroundings,
): Promise<void> {
  const { settings, cacheDirectory, env } = surroundings;
  const end = performance.now() + settings.teamTimeoutMs;
  try {
    const team = openTeam(url, env);
    const works = missing();
    try {
      const asked = await askOnce({
        state: teamState(cacheDirectory, url),
        place: placeOf(site),
        missing: () => missing().map(({ key }) => key),
        ask: (question, limitMs) => team.ask({ ...question, ...processorOf(site.device) }, limitMs),
        take: async (received) => {
          const lines = usable(received, works, site);
          if (lines.length === 0) return;
          const own = works.flatMap((work) => partsOf(subjectOf(work, site)));
          await withLocal(settings, (local) => {
            // This device is described here; only the server knows the other devices.
            local.receive(own.map(asReading), 'here');
            take(local, lines);
          });
        },
        limitMs: settings.teamTimeoutMs,
        now: Date.now,
        random: Math.random,
      });
      const still = missing();
      report(asked, works.length - still.length, surroundings);
      const left = end - performance.now();
      if (asked.outcome !== 'answered' || isTuned || still.length === 0 || left < 1) return;
      const wanted = still.map((work) => subjectOf(work, site));
      // A reader may not add to the wanted list.
      await team.want(wanted.flatMap(partsOf), wanted.map(keysOf), left);
    } finally {
      team.close();
    }
  } catch (error) {
    // For example a malformed URL, or a locked database.
    report({ outcome: 'unreachable', reason: messageOf(error) }, 0, surroundings);
  }
}

/** The server prefers records of the device, then those of its class. */
function processorOf({ processor }: Device): Pick<Question, 'processor'> {
  if (processor === undefined) return {};
  const { architecture, vendor, family, model } = processor;
  return { processor: { architecture, vendor, family, model } };
}

/** Opens the local database for exchange, only if there are lines to write or to push. */
async function withLocal<T>({ database }: Settings, action: (local: Exchange) => T | Promise<T>): Promise<T> {
  const local = openExchange(database);
  try {
    return await action(local);
  } finally {
    local.close();
  }
}

const asReading = (line: Line) => ({ outcome: 'line' as const, line });

/** The server's lines about the asked workloads, and the lines of their devices. */
function usable({ lines }: Received, works: readonly Work[], site: Site): Line[] {
  const place = placeOf(site);
  const asked = new Set(works.map(({ key }) => key));
  const isAsked = (line: Line) =>
    (line.type === 'claim' || line.type === 'mark') &&
    asked.has(line.workload) &&
    line.target === place.target &&
    line.compiler === place.compiler;
  const wanted = lines.filter(isAsked);
  const others = lines.filter(
    ({ type, ...rest }) => type === 'device' && (rest as PartLine).key !== place.device,
  );
  return wanted.length === 0 ? [] : [...others, ...wanted];
}

/** Counts the outcome of a question, and logs the reason for no answer. */
function report(asked: Asked, found: number, { cacheDirectory, settings }: Surroundings): void {
  if (asked.outcome === 'unreachable' && settings.log !== undefined) writeLog(asked.reason, settings.log);
  const ignored = asked.outcome === 'answered' ? asked.ignored : 0;
  noteCounts(cacheDirectory, {
    [`team: ${asked.outcome}`]: 1,
    ...(found > 0 && { 'team records': found }),
    ...(ignored > 0 && { 'team lines ignored': ignored }),
  });
}

/** Pushes new records for at most a second. Never throws: the next push, or `iree-tuned team sync`, sends the rest. */
export async function tellTeam(url: string, surroundings: Surroundings): Promise<void> {
  const { cacheDirectory, env, settings } = surroundings;
  const end = performance.now() + PUSH_LIMIT_MS;
  const left = () => Math.max(1, end - performance.now());
  try {
    const state = teamState(cacheDirectory, url);
    const before = state.breaker();
    if (breakerState(before, Date.now()) !== 'closed') return;
    const team = openTeam(url, env);
    try {
      const server = await team.identify(left());
      const pushed = server.ok
        ? await withLocal(settings, (local) =>
            push(team, local, server.value, { limitMs: left(), allTrials: false }),
          )
        : server;
      if (pushed.ok) return;
      const { failure } = pushed;
      // A refused push leaves the breaker closed: most roles may only read, and writers block each other.
      if (!server.ok) state.setBreaker(afterFailure(before, failure, Date.now(), Math.random()));
      if (settings.log !== undefined) writeLog(`not pushed: ${failure.reason}`, settings.log);
    } finally {
      team.close();
    }
  } catch (error) {
    tell(`the team was not told: ${messageOf(error)}`, settings.log);
  }
}
