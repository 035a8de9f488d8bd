import type { Settings } from './settings.ts';

/** Where everything of one run comes from. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: Settings;
  /** Folder of the installed package. */
  readonly root: string;
  readonly cacheDirectory: string;
}

/** The same for what neither measures nor waits for who does. */
export const withoutTuning = (surroundings: Surroundings): Surroundings => ({
  ...surroundings,
  settings: { ...surroundings.settings, onMiss: 'default', budgetSeconds: 0 },
});
