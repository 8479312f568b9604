import { orderForm } from './order-fields';
import type { OrderKind } from './order-kind';

/** Has a container run the broker of a file; the plan finds out what the file says. */
export function addBroker(clusterName: string): OrderKind {
  return orderForm('addBroker', { target: clusterName, given: { clusterName } });
}

type Removed = {
  clusterName: string;
  brokerGroupName: string;
  brokerId: string;
  containerAddress: string;
};

/** Has a container stop a broker, and run it no more. */
export function removeBroker(broker: Removed, brokerName: string): OrderKind {
  return orderForm('removeBroker', {
    target: brokerName,
    given: { ...broker },
    // What takes an operation back names the broker by its address.
    leftOut: ['address'],
  });
}
