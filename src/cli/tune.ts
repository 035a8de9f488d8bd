// `iree-tuned tune`: tuning ahead of the build.
import type { Command as Program } from 'commander';
import type { Decision } from '../decision/decision.ts';
import { lookUp, workloadsOf } from '../decision/look-up.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import { KeptModules } from '../wrapper/kept-modules.ts';
import { lastWord, verifyOnDemand } from '../wrapper/last-word.ts';
import { planCompile } from '../wrapper/plan.ts';
import { inBetterForms } from '../wrapper/program-forms.ts';
import { programMemory, inProgram } from '../wrapper/program-memory.ts';
import { programOf } from '../wrapper/program-notes.ts';
import { explainOperations } from '../report/explain.ts';
import { formatSeconds } from '../system/format.ts';
import { UserError } from '../system/user-error.ts';
import { table } from '../report/table.ts';
import { STRATEGIES } from '../search/index.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { isOperationWork } from '../workload/workload.ts';
import { configurationKey } from '../backend/index.ts';
import { atDevice, inspectInput, openDatabase, surroundingsOf } from './context.ts';
import { page } from './output.ts';
import { search, trialsOf } from './search.ts';
import { restricted } from './search-space.ts';
import { tuneDispatches } from './tune-dispatches.ts';

export async function tuneInput(
  input: string,
  flags: readonly string[],
  options: {
    budget?: string;
    strategy: string;
    trials: string;
    searchSpace?: string;
    again?: boolean;
    json?: boolean;
    verifyProgram?: boolean;
  },
  program: Program,
): Promise<void> {
  const strategy = STRATEGIES[options.strategy]!;
  const trials = trialsOf(options.trials);
  const { budget } = options;
  const surroundings = surroundingsOf(program, budget === undefined ? {} : { budget });
  const { command: asked, inspected: read } = await inspectInput(input, flags, surroundings);
  const store = await openDatabase(surroundings);
  const written = { command: asked, inspected: atDevice(read, store, surroundings) };
  const { site } = written.inspected;
  if (site.whyNotHere !== null) throw new UserError(`${input}: ${site.whyNotHere}`);
  const kept = new KeptModules();
  const mayMeasure = !surroundings.settings.readonly;
  const better = await inBetterForms(written, store, surroundings, kept, mayMeasure);
  const { command, inspected } = better.program;
  const lookup = lookUp(store, inspected.input, site, surroundings.settings);
  const anew = keysToTuneAgain(lookup.decide(new Map(), ''), options.again === true);
  const every = workloadsOf(inspected.input, site, surroundings.settings);
  // Where only some values are allowed, what was found among others is no reason to search.
  const isRestricted = options.searchSpace !== undefined;
  const open = new Set([...lookup.misses, ...(isRestricted ? [] : lookup.narrow)].map(({ key }) => key));
  const wanted = restricted(
    every.filter(({ key }) => open.has(key) || anew.has(key)),
    site,
    options.searchSpace,
  );
  const { waitedSeconds } = inspected.input;
  const begun = performance.now();
  const identity = programOf(command, inspected);
  const recall = () => programMemory.recall(store, identity);
  const current = { inspected, decisions: lookup.decide(new Map(), ''), memory: recall() };
  const inDispatches = await tuneDispatches(wanted, anew, current, {
    ...{ command, surroundings, kept, store, began: Date.now(), patienceSeconds: undefined },
    budgetSeconds: surroundings.settings.budgetSeconds - waitedSeconds,
  });
  const spentSeconds = waitedSeconds + (performance.now() - begun) / 1000;
  const measured = { command, site, waitedSeconds: spentSeconds };
  const alone = wanted.filter(({ workload }) => isOperationWork(workload));
  const { results, whyNot } = await search(alone, store, measured, surroundings, {
    strategy,
    effort: { maxTrials: trials },
    again: anew,
  });
  // Looked up again, so that what is shown is what the next build will get.
  const again = lookUp(store, inspected.input, site, surroundings.settings);
  const found = again.decide(new Map(), whyNot);
  const { inject } = surroundings.settings;
  const ours = { command, inspected, identity };
  let verdict: ProgramVerdict | null;
  if (options.verifyProgram === true) {
    verdict = await verifyOnDemand({ ...ours, decisions: found }, store, surroundings);
  } else {
    const memory = recall();
    const decisions = inProgram(found, memory, again.marked, inject);
    const injection = planCompile(decisions, inspected, command, surroundings);
    const why = surroundings.settings.readonly ? 'the database is read-only' : null;
    const program = { ...ours, decisions, memory };
    ({ verdict } = await lastWord(program, injection, why, store, surroundings, kept));
  }
  const decisions = inProgram(found, recall(), again.marked, inject);
  kept.discard();
  store.close();
  if (options.json === true) {
    const operations = explainOperations(inspected.input.bytes, input, decisions, null);
    console.log(JSON.stringify({ operations, program: verdict }, null, 2));
  } else {
    const rows = explainOperations(inspected.input.bytes, input, decisions, null).map((row, i) => {
      const evidence = decisions[i]!.evidence;
      return [
        row.location,
        (row.workload ?? row.operation).replace(/^contraction /, ''),
        formatSeconds(evidence?.defaultSeconds ?? NaN),
        formatSeconds(evidence?.seconds ?? NaN),
        evidence === null ? '-' : `${evidence.ratio.toFixed(2)}x`,
        row.configuration === null ? row.reason : configurationKey(row.configuration),
      ];
    });
    console.log(table(['where', 'workload', 'default', 'tuned', 'gain', 'configuration'], rows, page));
    if (verdict !== null) console.log(`\n${describeVerdict(verdict)}`);
  }
  const isKnown = ({ key }: Work) => results.has(key) || inDispatches.results.has(key);
  if (!wanted.every(isKnown)) process.exitCode = 1;
}

/** Keys of records that are tuned anew: all on demand, else those of searches that found nothing and did not end. */
function keysToTuneAgain(decisions: readonly Decision[], all: boolean): Set<string> {
  const again = decisions.filter(
    ({ configuration, evidence }) =>
      all || (configuration?.kind === 'default' && evidence?.complete === false),
  );
  return new Set(again.flatMap(({ tunable }) => tunable?.key ?? []));
}

/** What became of the program as a whole. */
function describeVerdict({ functions, skipped, leftOut, injected, reason: why }: ProgramVerdict): string {
  const rows = functions.map(({ name, timing, equal, reason }) => [
    `@${name}`,
    formatSeconds(timing?.seconds[0] ?? NaN),
    formatSeconds(timing?.seconds[1] ?? NaN),
    timing === null ? '-' : `${timing.ratio.toFixed(2)}x`,
    equal === true ? 'equal' : equal === false ? 'DIFFERENT' : '-',
    reason ?? '',
  ]);
  return [
    ...(rows.length === 0 ? [] : [table(['program', 'stock', 'tuned', 'gain', 'outputs', ''], rows, page)]),
    ...(why === null
      ? []
      : injected
        ? [`The program has its configurations, and was not verified: ${why}.`]
        : [`The program is compiled as it is without tuning: ${why}.`]),
    ...skipped.map(({ name, reason }) => `@${name} was not run: ${reason}`),
    ...leftOut.map(({ workload, reason }) => `left to the default: ${workload}\n  ${reason}`),
  ].join('\n');
}
