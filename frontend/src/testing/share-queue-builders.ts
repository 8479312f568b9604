import type {
  ShareIncidentFieldsFragment,
  ShareIncidentsQuery,
  ShareMessageFieldsFragment,
  ShareQueueFieldsFragment,
  ShareQueueQuery,
  ShareQueuesQuery,
} from '@/gql/operations';
import type { Answers } from './control-plane';

/** A share queue with two messages in flight. */
export function aShareQueue(
  change: Partial<ShareQueueFieldsFragment> = {},
): ShareQueueFieldsFragment {
  return {
    clusterName: 'regent',
    consumerGroupName: 'billing',
    topic: 'orders',
    brokerGroupName: 'broker-a',
    queueId: 3,
    mode: 'PRIMARY',
    owner: 'broker-a-0',
    waiters: [],
    leaseEpoch: '7',
    consumeMode: 'POP',
    isOrdered: false,
    position: '1200',
    windowEnd: '1203',
    maxOffset: '1500',
    windowSize: 4096,
    isFull: false,
    unfinishedCount: '299',
    acquiredCount: 2,
    returnedCount: 0,
    oldestAcquiredMs: '42000',
    oldestDeliveredMs: '90000',
    attemptCountMax: 16,
    countedMs: '3600000',
    deliveredCount: '5004',
    redeliveredCount: '17',
    acceptedCount: '4998',
    deadLetterCount: '1',
    discardedCount: '0',
    retriedCount: '2',
    ...change,
  };
}

export function aShareMessage(
  change: Partial<ShareMessageFieldsFragment> = {},
): ShareMessageFieldsFragment {
  return {
    offset: '1200',
    holder: 'GONE',
    clientId: '10.0.0.7@412',
    acquiredMs: '42000',
    deliveredMs: '90000',
    dueInMs: '18000',
    deliveryCount: 2,
    ...change,
  };
}

export function shareQueuesPage(
  nodes: ShareQueueFieldsFragment[],
  unknown: ShareQueuesQuery['shareQueues']['unknown'] = [],
): ShareQueuesQuery {
  return {
    shareQueues: {
      observedAt: new Date().toISOString(),
      totalCount: nodes.length,
      pageInfo: { hasNextPage: false, endCursor: null },
      nodes,
      unknown,
    },
  };
}

export function shareQueueDetail(
  messages: ShareMessageFieldsFragment[],
  change: Partial<ShareQueueFieldsFragment> = {},
): ShareQueueQuery {
  return {
    shareQueue: { observedAt: new Date().toISOString(), queue: aShareQueue(change), messages },
  };
}

/** A disk of a member failed, and the others have the record. */
export function aShareIncident(
  change: Partial<ShareIncidentFieldsFragment> = {},
): ShareIncidentFieldsFragment {
  return {
    id: '2',
    broker: 'broker-a-2',
    kind: 'CANNOT_STORE',
    explanation: "Broker broker-a-2 can't store records. Replace its disk.",
    epoch: '4',
    position: '8192',
    topic: null,
    queueId: null,
    consumerGroupName: null,
    reason: 'the disk failed',
    outcome: 'OTHERS_HAVE_IT',
    openedAt: '2026-01-01T12:00:00Z',
    resolvedAt: null,
    resolution: null,
    ...change,
  };
}

export function shareIncidentsPage(nodes: ShareIncidentFieldsFragment[]): ShareIncidentsQuery {
  return { shareIncidents: { totalCount: nodes.length, nodes } };
}

export function shareQueueAnswers(): Answers {
  return {
    ShareIncidents: () => shareIncidentsPage([]),
    ShareQueues: () => shareQueuesPage([aShareQueue()]),
    ShareQueue: () => shareQueueDetail([aShareMessage()]),
  };
}
