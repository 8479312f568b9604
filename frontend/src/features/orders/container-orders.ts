import { orderForm } from './order-fields';
import type { OrderKind } from './order-kind';

/** Has a container run the broker of a file; the plan finds out what the file says. */
export function addBroker(clusterName: string): OrderKind {
  return orderForm('addBroker', { target: clusterName, given: { clusterName } });
}

type Removed = {
  clusterName: string;
  brokerGroupName: string;
  /** None if no one knows it yet: then the file names the broker. */
  brokerId: string | null;
  containerAddress: string;
  configPath: string | null;
};

/** Has a container stop a broker, and run it no more. */
export function removeBroker(broker: Removed, brokerName: string): OrderKind {
  return orderForm('removeBroker', {
    target: brokerName,
    given: { ...broker, brokerId: broker.brokerId ?? '0' },
    // What takes an operation back names the broker by its address.
    leftOut: ['address'],
  });
}
