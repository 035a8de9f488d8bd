// Executes planned work on this machine: surveys shapes, and tunes like `iree-tuned tune`.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'mlir-parser-ts';
import type { MeasuringTools } from '../compiler/find.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { isTunable, type InputOperation, type TunableOperation } from '../input/operation.ts';
import { tuneWorkloads, type TuneOptions } from '../tuning/tune-workloads.ts';
import type { TuningProgress } from '../tuning/search-job.ts';
import { withoutDispatch, workloadKey } from '../workload/workload.ts';
import { answersFor, skippedFor, type Knowledge } from './request.ts';
import type { Answer, Planned } from './plan.ts';
import type { Executor } from './populate.ts';
import { type Shape, shapeModule } from './shape.ts';
import { programAt, type PopulationSite } from './site.ts';
import { REASONS } from '../system/reason.ts';

export interface ExecutorOptions extends Pick<TuneOptions, 'strategy' | 'effort'> {
  readonly tools: MeasuringTools | null;
  /** Folder for modules. */
  readonly folder: string;
  /** Number of parallel compiles. */
  readonly jobs: number;
  readonly onProgress?: (progress: TuningProgress) => void;
}

export function executorHere(
  sites: readonly PopulationSite[],
  knowledge: Knowledge,
  { tools, folder, jobs, onProgress, ...search }: ExecutorOptions,
): Executor {
  const { store, surroundings } = knowledge;
  return {
    async prepare(planned) {
      const asked = planned.filter(({ shape }) => shape !== undefined);
      const [first] = asked;
      const found = first === undefined ? [] : await surveyed(asked, sites[first.site]!, folder, knowledge);
      const byPlanned = new Map(asked.map((one, i) => [one, found[i]!]));
      return planned.map((one) => ({ ...one, ...byPlanned.get(one) }));
    },
    tune: (works, again, index, { budgetSeconds, finishEarly, signal }) =>
      tuneWorkloads(works, store, sites[index]!.site, tools, surroundings, {
        ...{ budgetSeconds, givenSeconds: budgetSeconds, finishEarly, signal, again },
        ...{ compilesAtOnce: jobs, isEachAlone: true, ...search },
        ...(onProgress && { onProgress }),
      }),
  };
}

/** The generated operations of shapes, and the database's answer for each. */
async function surveyed(
  planned: readonly Planned[],
  at: PopulationSite,
  folder: string,
  knowledge: Knowledge,
): Promise<Answer[]> {
  const shapes = planned.map(({ shape }) => shape!);
  const operations = await operationsOfShapes(shapes, at, folder, knowledge.surroundings);
  const tunable = operations.filter((one) => typeof one !== 'string');
  const answers = answersFor({ reading: at.reading, operations: tunable }, at, knowledge);
  return operations.map((operation, i): Answer => {
    const { work } = planned[i]!;
    if (typeof operation === 'string') return { work, standing: skippedFor(operation), result: null };
    const answer = answers.get(operation.key)!;
    return { ...answer, work: { ...answer.work, count: work.count } };
  });
}

/** For each shape, the generated operation, or the reason why there is none. */
export async function operationsOfShapes(
  shapes: readonly Shape[],
  at: PopulationSite,
  folder: string,
  surroundings: Surroundings,
): Promise<(TunableOperation | string)[]> {
  const path = join(folder, 'shapes.mlir');
  const text = shapeModule(shapes);
  writeFileSync(path, text);
  const program = await programAt(path, at.flags, surroundings);
  rmSync(path, { force: true });
  const isSurveyed = typeof program !== 'string' && program.inspected.input.surveyed;
  // If the compiler rejects one shape, the others are surveyed one by one.
  if (!isSurveyed && shapes.length > 1)
    return (
      await Array.fromAsync(shapes, (shape) => operationsOfShapes([shape], at, folder, surroundings))
    ).flat();
  if (typeof program === 'string') return shapes.map(() => program);
  if (!isSurveyed) return shapes.map(() => REASONS['not-compiled']);
  const byStart = new Map<number, InputOperation>();
  for (const one of program.inspected.input.operations)
    if (one.place.operation !== null) byStart.set(one.place.operation.start, one);
  const written = parse(new TextEncoder().encode(text)).operations;
  return shapes.map((shape, i) => {
    const found = byStart.get(written[i]!.start);
    if (found === undefined) return REASONS['not-generated'];
    return isTunable(found) ? alone(found, shape) : found.reason;
  });
}

/**
 * The operation without its context. In a module of many shapes, its weights may come from memory, which makes it another workload.
 * Only a model gives such a context.
 */
function alone(operation: TunableOperation, { rhsConstant }: Pick<Shape, 'rhsConstant'>): TunableOperation {
  const workload = withoutDispatch(operation.workload);
  if (workload === null) return operation;
  const own = { ...workload, constantRhs: rhsConstant };
  return { ...operation, workload: own, key: workloadKey(own) };
}
