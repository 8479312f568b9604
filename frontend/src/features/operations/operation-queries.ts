import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query';
import {
  CancelOperationDocument,
  type ConfirmationInput,
  ConfirmOperationDocument,
  OperationDocument,
  OperationFactsDocument,
  OperationKindsDocument,
  type OperationState,
  OperationsDocument,
  PauseOperationDocument,
  type PlanInput,
  PlanOperationDocument,
  ReplanOperationDocument,
  ResumeOperationDocument,
  RetryOperationDocument,
  UndoOperationDocument,
} from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { type Answer, ask } from '@/lib/graphql';
import { type Operation, pollIntervalMs, type Steering } from './operation';

export type OperationFilter = {
  clusterName: string | undefined;
  state: OperationState | undefined;
  kind: string | undefined;
  search: string | undefined;
  after: string | undefined;
};

export const operationKeys = {
  lists: [clusterScope, 'operations'] as const,
  list: (filter: OperationFilter) => [clusterScope, 'operations', filter] as const,
  kinds: ['operation-kinds'] as const,
  one: (id: string) => [clusterScope, 'operation', id] as const,
  facts: (id: string) => [clusterScope, 'operation', id, 'facts'] as const,
};

export const operationPageSize = 50;
export const listIntervalMs = 3_000;
const factsIntervalMs = 3_000;

export function operationsOf(filter: OperationFilter) {
  return queryOptions({
    queryKey: operationKeys.list(filter),
    queryFn: ({ signal }) =>
      ask(
        OperationsDocument,
        {
          first: operationPageSize,
          after: filter.after ?? null,
          clusterName: filter.clusterName ?? null,
          state: filter.state ?? null,
          kind: filter.kind ?? null,
          search: filter.search ?? null,
        },
        signal,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: listIntervalMs,
  });
}

export const operationKinds = queryOptions({
  queryKey: operationKeys.kinds,
  queryFn: ({ signal }) => ask(OperationKindsDocument, {}, signal),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Asked again every second while it moves, and never twice for one answer: a silence is told. */
export function operationOf(id: string) {
  return queryOptions({
    queryKey: operationKeys.one(id),
    queryFn: ({ signal }) => ask(OperationDocument, { id }, signal),
    refetchInterval: (query) => pollIntervalMs(query.state.data?.data.operation.state),
    staleTime: 0,
    retry: false,
  });
}

/** Whether the facts of a plan still hold; planned anew for that, so only a plan is asked about. */
export function operationFactsOf(id: string) {
  return queryOptions({
    queryKey: operationKeys.facts(id),
    queryFn: ({ signal }) => ask(OperationFactsDocument, { id }, signal),
    refetchInterval: factsIntervalMs,
    retry: false,
  });
}

type Ordered = Answer<{ operation: Operation }>;

/** Files what an order answered, so that its page begins with it. */
function keep(client: QueryClient, answer: Ordered): Promise<void> {
  client.setQueryData(operationKeys.one(answer.data.operation.id), answer);
  return client.invalidateQueries({ queryKey: operationKeys.lists });
}

export function planOperation(client: QueryClient) {
  return {
    mutationFn: (order: { plan: PlanInput; key: string }) => ask(PlanOperationDocument, order),
    onSuccess: (answer: Ordered) => keep(client, answer),
  };
}

/** Whatever a refusal says, the operation may stand elsewhere than it was shown. */
function lookAgain(client: QueryClient, id: string) {
  return () => client.invalidateQueries({ queryKey: operationKeys.one(id) });
}

export function confirmOperation(client: QueryClient, id: string) {
  return {
    mutationFn: (given: { given: ConfirmationInput; key: string }) =>
      ask(ConfirmOperationDocument, { id, ...given }),
    onSuccess: (answer: Ordered) => keep(client, answer),
    onError: lookAgain(client, id),
  };
}

const steerings = {
  PAUSE: PauseOperationDocument,
  RESUME: ResumeOperationDocument,
  CANCEL: CancelOperationDocument,
  RETRY: RetryOperationDocument,
  UNDO: UndoOperationDocument,
  REPLAN: ReplanOperationDocument,
} satisfies Record<Steering, unknown>;

export type SteeringOrder = { steering: Steering; key: string };

/** Steers an operation; an undo and a plan made once more answer with another operation. */
export function steerOperation(client: QueryClient, id: string) {
  return {
    mutationFn: ({ steering, key }: SteeringOrder): Promise<Ordered> =>
      ask(steerings[steering], { id, key }),
    onSuccess: (answer: Ordered) => keep(client, answer),
    onError: lookAgain(client, id),
  };
}
