import { ErrorNotice } from '@/components/error-notice';
import type { usePlanOrder } from './use-plan-order';

/** Why a change could not even be planned. */
export function PlanRefusal({ order }: { order: ReturnType<typeof usePlanOrder> }) {
  return order.error ? <ErrorNotice error={order.error} onRetry={order.again} /> : null;
}
