// Decisions with a configuration, and the options of a build that has none of its own.
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Decision } from '../../src/decision/decision.ts';
import type { TunableOperation } from '../../src/input/operation.ts';
import type { InjectionOptions } from '../../src/inject/plan.ts';
import { because } from '../../src/system/reason.ts';

export const hit = (tunable: TunableOperation, configuration: Configuration): Decision => ({
  place: tunable.place,
  tunable,
  outcome: 'hit',
  ...because('faster', ''),
  configuration,
  evidence: null,
  record: null,
});

export const OPTIONS: InjectionOptions = {
  wanted: 'auto',
  release: [3, 13, 0],
  specFlag: 'tuning-spec',
  isWhole: true,
  dataTiling: false,
  ownPreprocessing: false,
  ownPipeline: false,
};
