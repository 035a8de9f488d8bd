// Describes a plan, its progress and its results, as text and as JSON.
import { configurationKey } from '../backend/index.ts';
import { verdictOf } from '../decision/decision.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import { PLAIN, type Page } from '../report/page.ts';
import { table } from '../report/table.ts';
import { counted, formatDuration, formatRatio, formatSeconds, shortKey } from '../system/format.ts';
import { expectedSeconds, isUnfinished, type LeftOut, type Plan } from './plan.ts';
import type { Populated } from './populate.ts';
import type { ConcludedProgram, PopulatedProgram } from './programs.ts';
import type { ProgramToTune, RequestPlan } from './request.ts';
import type { PopulationSite } from './site.ts';

type Names = readonly Pick<PopulationSite, 'name'>[];

const MOST_ROWS = 50;

/** Only a run with several sites has a column for the site. */
const siteColumn = (sites: Names): readonly string[] => (sites.length > 1 ? ['flags'] : []);
const siteCell = (sites: Names, site: number): readonly string[] =>
  sites.length > 1 ? [sites[site]?.name ?? '-'] : [];

/** The program's name, with its flags if the run has several sites. */
const nameOfProgram = ({ source, site }: Pick<ProgramToTune, 'source' | 'site'>, sites: Names): string =>
  [source, ...siteCell(sites, site)].join(', ');

/** Such as `its forms and 3 dispatches`. */
export const describeProgram = ({ dispatches, hasOpenForms }: ProgramToTune): string =>
  [
    ...(hasOpenForms ? ['its forms'] : []),
    ...(dispatches > 0 ? [counted(dispatches, 'dispatch', 'dispatches')] : []),
  ].join(' and ');

/** @param budgetSeconds for the whole run; undefined for no limit */
export function describePlan(plan: RequestPlan, sites: Names, budgetSeconds: number | undefined): string {
  const { programs, todo, known, duplicates, skipped } = plan;
  const unfinished = todo.filter(isUnfinished).length;
  const rows = todo
    .slice(0, MOST_ROWS)
    .map(({ work, site, source, likelyGain }, i) => [
      String(i + 1),
      shortKey(work.key),
      ...siteCell(sites, site),
      String(work.count),
      formatRatio(likelyGain),
      source,
    ]);
  return [
    ...(rows.length === 0
      ? []
      : [table(['', 'workload', ...siteColumn(sites), 'count', 'likely gain', 'from'], rows)]),
    ...(todo.length > MOST_ROWS ? [`... and ${todo.length - MOST_ROWS} more (--json has all)`] : []),
    ...(rows.length === 0 ? [] : ['']),
    ...programs.map((one) => `first       ${describeProgram(one)} in ${nameOfProgram(one, sites)}`),
    `new         ${todo.length - unfinished}`,
    `unfinished  ${unfinished}`,
    `known       ${known.length}`,
    `duplicate   ${duplicates}`,
    `skipped     ${skipped.length}`,
    ...reasonsOf(skipped),
    `expected    ${expectation(plan, budgetSeconds)}`,
  ].join('\n');
}

function expectation(plan: Plan, budgetSeconds: number | undefined): string {
  const seconds = expectedSeconds(plan);
  const each = `${formatDuration(plan.secondsEach)} each, ${plan.isMeasured ? 'the median of the searches on this device' : 'a guess: this device has no records yet'}`;
  const limit =
    budgetSeconds !== undefined && budgetSeconds < seconds
      ? `, and the budget allows ${formatDuration(budgetSeconds)}`
      : '';
  return `${formatDuration(seconds)} (${each})${limit}`;
}

/** Each reason once, with its first subject and the number of others. */
function reasonsOf(all: readonly Pick<LeftOut, 'what' | 'reason'>[]): string[] {
  return [...Map.groupBy(all, ({ reason }) => reason)].map(
    ([reason, [first, ...others]]) =>
      `  ${shortKey(first!.what)}${others.length === 0 ? '' : ` and ${others.length} more`}: ${reason}`,
  );
}

/** The line before a run. */
export function describeStart({ todo, known, secondsEach }: Plan, budgetSeconds = Infinity): string {
  const unfinished = todo.filter(isUnfinished).length;
  const seconds = Math.min(budgetSeconds, expectedSeconds({ todo, secondsEach }));
  return `${todo.length} to tune, of which ${unfinished} resume; ${known.length} known; about ${formatDuration(seconds)}`;
}

/** The line after each workload: its result, and the time left. */
export function describeDone(
  { key, result, reason }: Populated,
  done: number,
  total: number,
  secondsLeft: number,
): string {
  const what = result === null ? reason : verdictOf(result.configuration, result.evidence).reason;
  const left = done === total ? '' : `, about ${formatDuration(Math.ceil(secondsLeft))} left`;
  return `${done} of ${total}${left}: ${shortKey(key)}: ${what}`;
}

export interface ProgramResults {
  readonly tuned: readonly PopulatedProgram[];
  readonly concluded: readonly ConcludedProgram[];
}

const NO_PROGRAMS: ProgramResults = { tuned: [], concluded: [] };

function describeTuned({ forms, dispatches, decided }: PopulatedProgram): string {
  return [
    ...(forms === null ? [] : [`in other forms: ${forms}`]),
    ...(dispatches === 0 ? [] : [`${decided} of ${dispatches} dispatches have a record now`]),
  ].join('; ');
}

/** The results of a run: gains, and reasons for workloads without a record. */
export function describeResults(
  results: readonly Populated[],
  plan: Plan,
  sites: Names,
  { tuned, concluded } = NO_PROGRAMS,
): string {
  const found = results.flatMap(({ planned, key, result, wasKnown }) => {
    if (result === null) return [];
    const { ratio, defaultSeconds, seconds, complete } = result.evidence;
    const notes = [...(complete ? [] : ['not complete']), ...(wasKnown ? ['known'] : [])];
    return [
      [
        ...[shortKey(key), ...siteCell(sites, planned.site)],
        ...[formatSeconds(defaultSeconds), formatSeconds(seconds), formatRatio(ratio)],
        [configurationKey(result.configuration), ...notes].join(', '),
      ],
    ];
  });
  const open = results.flatMap(({ key, result, reason }) => (result === null ? [{ what: key, reason }] : []));
  const faster = results.filter(({ result }) => result !== null && result.evidence.ratio > 1).length;
  return [
    ...(found.length === 0
      ? []
      : [table(['workload', ...siteColumn(sites), 'default', 'tuned', 'gain', 'configuration'], found), '']),
    ...tuned.map((one) => `${nameOfProgram(one, sites)}: ${describeTuned(one)}`),
    ...concluded.map((one) => `${nameOfProgram(one, sites)} as a whole:\n${describeVerdict(one.verdict)}`),
    results.length === 0
      ? `${plan.known.length} had a record before.`
      : `${found.length} of ${results.length} have a record now, ${faster} of them faster than the default; ${plan.known.length} had one before.`,
    ...(open.length === 0 ? [] : ['without a record:', ...reasonsOf(open)]),
    ...(plan.skipped.length === 0 ? [] : ['skipped:', ...reasonsOf(plan.skipped)]),
  ].join('\n');
}

/** @param results null for a plan that was not executed */
export function populationJson(
  plan: RequestPlan,
  results: readonly Populated[] | null,
  sites: Names,
  { tuned, concluded } = NO_PROGRAMS,
) {
  const { programs, todo, known, duplicates, skipped, secondsEach, isMeasured } = plan;
  const flagsOf = (site: number) => ({ flags: sites[site]?.name ?? null });
  const withFlags = <T extends { readonly site: number }>({ site, ...one }: T) => ({
    ...one,
    ...flagsOf(site),
  });
  return {
    plan: {
      programs: programs.map(({ source, site, dispatches, hasOpenForms }) => ({
        ...{ source, dispatches, ...flagsOf(site), openForms: hasOpenForms },
      })),
      todo: todo.map(({ work, site, source, standing, likelyGain, likelySaving }) => ({
        ...{ workload: work.key, ...flagsOf(site), source, count: work.count },
        ...{ unfinished: isUnfinished({ standing }), likelyGain, likelySaving },
      })),
      known: known.map(({ work, site, source }) => ({ workload: work.key, ...flagsOf(site), source })),
      duplicates,
      skipped: skipped.map(withFlags),
      seconds: { expected: expectedSeconds(plan), each: secondsEach, measured: isMeasured },
    },
    programs: { tuned: tuned.map(withFlags), verdicts: concluded.map(withFlags) },
    results:
      results?.map(({ planned: { site, source }, key, result, wasKnown, reason }) => ({
        ...{ workload: key, ...flagsOf(site), source },
        outcome: result === null ? 'open' : wasKnown ? 'known' : 'tuned',
        reason: result === null ? reason : verdictOf(result.configuration, result.evidence).reason,
        configuration: result?.configuration ?? null,
        evidence: result?.evidence ?? null,
      })) ?? null,
  };
}

/** The verdict of a program's run: a table of functions, then notes about functions and workloads that were left out. */
export function describeVerdict(
  { functions, skipped, leftOut, injected, reason: why }: ProgramVerdict,
  page: Page = PLAIN,
): string {
  const rows = functions.map(({ name, timing, equal, reason }) => [
    `@${name}`,
    formatSeconds(timing?.seconds[0] ?? NaN),
    formatSeconds(timing?.seconds[1] ?? NaN),
    formatRatio(timing?.ratio),
    equal === true ? 'equal' : equal === false ? 'DIFFERENT' : '-',
    reason ?? '',
  ]);
  return [
    ...(rows.length === 0 ? [] : [table(['program', 'stock', 'tuned', 'gain', 'outputs', ''], rows, page)]),
    ...(why === null
      ? []
      : injected
        ? [`The program is tuned, and was not verified: ${why}.`]
        : [`The program is compiled without tuning: ${why}.`]),
    ...skipped.map(({ name, reason }) => `@${name} was not run: ${reason}`),
    ...leftOut.map(({ workload, reason }) => `left to the default: ${workload}\n  ${reason}`),
  ].join('\n');
}
