import type { ReactNode } from 'react';
import { PlanRefusal } from './plan-refusal';
import { usePlanOrder } from './use-plan-order';

type WithOrderProps = { children: (order: ReturnType<typeof usePlanOrder>) => ReactNode };

/**
 * A form with an order of its own: what was refused stands above it, and goes with it, so that
 * nobody tries again what another form ordered.
 */
export function WithOrder({ children }: WithOrderProps) {
  const order = usePlanOrder();
  return (
    <>
      <PlanRefusal order={order} />
      {children(order)}
    </>
  );
}
