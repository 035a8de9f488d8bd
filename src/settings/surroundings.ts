import type { Settings } from './settings.ts';

/** Settings and locations of one run. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: Settings;
  /** Root folder of the installed package. */
  readonly root: string;
  readonly cacheDirectory: string;
}

/** The same without tuning: it neither measures nor waits for the measuring lock. */
export const withoutTuning = (surroundings: Surroundings): Surroundings => ({
  ...surroundings,
  settings: { ...surroundings.settings, onMiss: 'default', budgetSeconds: 0 },
});
