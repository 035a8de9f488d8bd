// The amount of work of one call of a dispatch.
import { isOperationWork, workloadBytes, workloadFlops, type Workload } from './workload.ts';

/** Null for an unknown number. */
export interface Amount {
  /** Multiplications of its products: each is one multiply-add. Single multiplications of other work do not count. */
  readonly multiplications: number | null;
  /** Element type of both factors, such as `f32`; `f16,f32` for two types; null without products. */
  readonly type: string | null;
  /** Bytes of all operands and results, each once. */
  readonly bytes: number | null;
}

/** The element type of the factors of a product. */
export const factorType = (lhs: string, rhs: string): string => (lhs === rhs ? lhs : `${lhs},${rhs}`);

/** The amount of a workload of the database. Only a program tells the products of a whole dispatch. */
export function workloadAmount(workload: Workload): Amount {
  const bytes = workloadBytes(workload);
  return isOperationWork(workload)
    ? {
        multiplications: workloadFlops(workload) / 2,
        type: factorType(workload.lhs.elementType, workload.rhs.elementType),
        bytes,
      }
    : { multiplications: null, type: null, bytes: bytes === 0 ? null : bytes };
}
