import type { Neighbours } from '../../src/form/form.ts';

/** Neighbours of a convolution of a program for a GPU, without padding. */
export const neighboursIn = (place: Neighbours['place']): Neighbours => ({
  ...{ place, isForCpu: false },
  ...{ isImage: () => false, isPadded: () => false },
});
