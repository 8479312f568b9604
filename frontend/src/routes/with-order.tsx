import type { ReactNode } from 'react';
import { PlanRefusal } from './plan-refusal';
import { usePlanOrder } from './use-plan-order';

type WithOrderProps = { children: (order: ReturnType<typeof usePlanOrder>) => ReactNode };

/**
 * A form with a separate order. A refusal stands above the form and goes with it, so that the user
 * does not try again what another form ordered.
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
