import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { planOperation } from '@/features/operations/operation-queries';
import type { PlanInput } from '@/gql/operations';
import { newKey } from '@/lib/idempotency-key';

/** Plans a change and leads to the page where it is shown and confirmed; nothing changes yet. */
export function usePlanOrder() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const options = planOperation(client);
  const planning = useMutation({
    ...options,
    onSuccess: (answer) => {
      void options.onSuccess(answer);
      void navigate({
        to: '/operations/$operationId',
        params: { operationId: answer.data.operation.id },
        search: (now) => (now.cluster ? { cluster: now.cluster } : {}),
      });
    },
  });
  const { mutate } = planning;
  const plan = useCallback(
    (wanted: PlanInput) => mutate({ plan: wanted, key: newKey() }),
    [mutate],
  );
  return {
    error: planning.error,
    isBusy: planning.isPending,
    plan,
    // The same key again: had the first request come through, its plan is found.
    again: () => planning.variables && planning.mutate(planning.variables),
  };
}
