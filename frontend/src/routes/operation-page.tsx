import { useParams } from '@tanstack/react-router';
import { OneOperation } from './one-operation';

/** The one page of any change: its plan, its confirmation, its way and its end. */
export function OperationPage() {
  const { operationId } = useParams({ from: '/console/operations/$operationId' });
  // Another operation begins with nothing typed and no refusal of the one before.
  return <OneOperation key={operationId} operationId={operationId} />;
}
