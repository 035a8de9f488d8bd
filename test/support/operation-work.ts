// Narrows a workload to the work of one operation.
import { hasRoot, type OperationWork, type Workload } from '../../src/workload/workload.ts';

export function operationWork(workload: Workload): OperationWork {
  if (!hasRoot(workload)) throw new Error(`${workload.kind} is not the work of one operation`);
  return workload;
}
