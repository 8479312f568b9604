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
/** Each comparison of facts plans again, so not every look at the page makes one. */
const factsIntervalMs = 10_000;
/** No event reports changes of offsets, settings or disks, so comparing never rests for long. */
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

/** Asked again on its events. A failed request is not repeated: the page shows the silence. */
export function operationOf(id: string) {
  return queryOptions({
    queryKey: operationKeys.one(id),
    queryFn: ({ signal }) => ask(OperationDocument, { id }, signal),
    refetchInterval: (query) => {
      const state = query.state.data?.data.operation.state;
      // The progress of a step that waits is no event.
      if (isMoving(state)) return paced(pollIntervalMs(state), progressIntervalMs)();
      return paced(pollIntervalMs(state))();
    },
    meta: heeding(['operation', 'step'], { when: ({ operationId }) => operationId === id }),
    staleTime: 0,
    retry: false,
  });
}

/**
 * Whether the facts of a plan still hold. Each comparison plans again, so few are made: when an
 * event touches what the plan names, when a user asks, and now and then for changes without events.
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

/** How far each logical queue of a topic is: progress within a step is no event. */
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
