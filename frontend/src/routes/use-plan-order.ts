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
    },
  });
  const { mutate } = planning;
  const send = useCallback(
    (order: { plan: PlanInput; key: string }) =>
      mutate(order, {
        // Called only while the order is shown: a user who has gone to another page stays there.
        onSuccess: (answer) =>
          void navigate({
            to: '/operations/$operationId',
            params: { operationId: answer.data.operation.id },
            search: (now) => (now.cluster ? { cluster: now.cluster } : {}),
          }),
      }),
    [mutate, navigate],
  );
  const plan = useCallback((wanted: PlanInput) => send({ plan: wanted, key: newKey() }), [send]);
  return {
    error: planning.error,
    isBusy: planning.isPending,
    plan,
    // The same key again: if the first request came through, its plan is found.
    again: () => planning.variables && send(planning.variables),
  };
}
