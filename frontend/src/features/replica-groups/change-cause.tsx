import { OperationLink } from '@/components/operation-link';
import { operationIn } from './group-change';

/** Why a group changed; where an operation wanted it, the way to that. */
export function ChangeCause({ cause }: { cause: string }) {
  const operationId = operationIn(cause);
  if (operationId === undefined) return cause;
  return <OperationLink operationId={operationId}>{cause}</OperationLink>;
}
