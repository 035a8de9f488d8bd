// The work of one operation, where a test knows that it is that.
import { isOperationWork, type OperationWork, type Workload } from '../../src/workload/workload.ts';

export function operationWork(workload: Workload): OperationWork {
  if (!isOperationWork(workload)) throw new Error(`${workload.kind} is no operation's work`);
  return workload;
}
