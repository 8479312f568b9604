import { type QueryClient, queryOptions } from '@tanstack/react-query';
import {
  ApproveOperationDocument,
  CancelOperationDocument,
  type ConfirmationInput,
  ConfirmOperationDocument,
  DeclineOperationDocument,
  OperationDocument,
  OperationFactsDocument,
  OperationKindsDocument,
  type OperationState,
  OperationsDocument,
  PauseOperationDocument,
  type PlanInput,
  PlanOperationDocument,
  QueueMovesDocument,
  ReplanOperationDocument,
  ResumeOperationDocument,
  RetryOperationDocument,
  UndoOperationDocument,
} from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { type Answer, ask } from '@/lib/graphql';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';
import { isMoving, isUnchanged, type Operation, pollIntervalMs, type Steering } from './operation';
import { mayMove } from './plan-subjects';

export type OperationFilter = {
  clusterName: string | undefined;
  state: OperationState | undefined;
  kind: string | undefined;
  search: string | undefined;
  after: string | undefined;
};

export const operationKeys = {
  lists: [clusterScope, 'operations'] as const,
  of: (clusterName: string | undefined) => [clusterScope, 'operations', clusterName] as const,
  list: (filter: OperationFilter) => [...operationKeys.of(filter.clusterName), filter] as const,
  kinds: ['operation-kinds'] as const,
  one: (id: string) => [clusterScope, 'operation', id] as const,
  facts: (id: string) => [clusterScope, 'operation', id, 'facts'] as const,
  moves: (id: string, topicName: string) =>
    [clusterScope, 'operation', id, 'moves', topicName] as const,
};

export const operationPageSize = 50;
export const listIntervalMs = 3_000;
const progressIntervalMs = 2_000;
/** Comparing facts plans anew, so that is not done for each glance. */
const factsIntervalMs = 10_000;
/** Of offsets, settings or what lies on a disk no event tells, so looking never rests for long. */
const factsLiveIntervalMs = 20_000;

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
    placeholderData: keepWithin(operationKeys.of(filter.clusterName)),
    refetchInterval: paced(listIntervalMs),
    meta: heeding(['operation', 'step'], { clusterName: filter.clusterName }),
  });
}

export const operationKinds = queryOptions({
  queryKey: operationKeys.kinds,
  queryFn: ({ signal }) => ask(OperationKindsDocument, {}, signal),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Asked again on its events, and never twice for one answer: a silence is told. */
export function operationOf(id: string) {
  return queryOptions({
    queryKey: operationKeys.one(id),
    queryFn: ({ signal }) => ask(OperationDocument, { id }, signal),
    refetchInterval: (query) => {
      const state = query.state.data?.data.operation.state;
      // How far a step that waits has come is no event.
      if (isMoving(state)) return paced(pollIntervalMs(state), progressIntervalMs)();
      return paced(pollIntervalMs(state))();
    },
    meta: heeding(['operation', 'step'], { when: ({ operationId }) => operationId === id }),
    staleTime: 0,
    retry: false,
  });
}

/**
 * Whether the facts of a plan still hold. They are compared by planning anew, so only where an event
 * touches what the plan names, somebody asks, and now and then for what moves without an event.
 */
export function operationFactsOf(operation: Operation | undefined) {
  const id = operation?.id ?? '';
  return queryOptions({
    queryKey: operationKeys.facts(id),
    queryFn: ({ signal }) => ask(OperationFactsDocument, { id }, signal),
    enabled: isUnchanged(operation?.state),
    refetchInterval: paced(factsIntervalMs, factsLiveIntervalMs),
    refetchOnWindowFocus: false,
    refetchOnMount: 'always' as const,
    staleTime: Number.POSITIVE_INFINITY,
    meta: heeding(['operation', 'step', 'group', 'broker', 'topic'], {
      clusterName: operation?.clusterName,
      when: (heard) => operation !== undefined && mayMove(operation, heard),
    }),
    retry: false,
  });
}

/** How far each logical queue of a topic is: within a step that is no event. */
export function queueMovesOf({ id, clusterName, state }: Operation, topicName: string) {
  return queryOptions({
    queryKey: operationKeys.moves(id, topicName),
    queryFn: ({ signal }) => ask(QueueMovesDocument, { clusterName, topicName }, signal),
    refetchInterval: pollIntervalMs(state),
    meta: heeding(['step'], { when: ({ operationId }) => operationId === id }),
    staleTime: 0,
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

export type Review = { word: 'APPROVE' | 'DECLINE'; reason: string; key: string };

/** Approves or declines what another user has confirmed. */
export function reviewOperation(client: QueryClient, id: string) {
  return {
    mutationFn: ({ word, ...given }: Review): Promise<Ordered> =>
      word === 'APPROVE'
        ? ask(ApproveOperationDocument, { id, ...given })
        : ask(DeclineOperationDocument, { id, ...given }),
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
