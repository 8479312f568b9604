import { orderForm } from './order-fields';
import type { OrderKind } from './order-kind';

/** Recalls the waiting message of a handle; the plan names its topic and its time. */
export function recallMessage(clusterName: string): OrderKind {
  return orderForm('recallMessage', {
    target: clusterName,
    given: { clusterName },
    known: { recallHandle: { as: 'lines' } },
  });
}
