import type { ConsumerGroupDetail, ConsumerQueue } from '@/features/consumer-groups/consumer-group';
import type { ConsumerGroupsQuery } from '@/gql/operations';

type Row = ConsumerGroupsQuery['consumerGroups']['nodes'][number];

const nothing = {
  messageCount: '0',
  waitingMs: '0',
  isComplete: true,
  expiredCount: '0',
  isApplicable: true,
};

export function aLag(change: Partial<Row['lag']> = {}): Row['lag'] {
  return { ...nothing, messageCount: '50', waitingMs: '4200', ...change };
}

/** Valid by default; a test states only what it is about. */
export function aConsumerQueue(change: Partial<ConsumerQueue> = {}): ConsumerQueue {
  return {
    brokerGroupName: 'broker-a',
    topic: 'orders',
    queueId: 0,
    kind: 'NORMAL',
    committed: '1200',
    begin: '0',
    end: '1250',
    lag: '50',
    expiredCount: '0',
    aheadCount: '0',
    waitingMs: '4200',
    consumedAt: '2026-11-22T10:00:00Z',
    owner: '10.0.0.7@412',
    ...change,
  };
}

export function aConsumerGroup(change: Partial<ConsumerGroupDetail> = {}): ConsumerGroupDetail {
  return {
    name: 'billing',
    isSystem: false,
    protection: null,
    state: 'ACTIVE',
    brokerCountTold: 1,
    brokerCountAsked: 1,
    models: ['clustering'],
    deadLetterCount: '3',
    isDeadLetterCountComplete: true,
    observedAt: '2026-11-22T10:00:00Z',
    lag: aLag(),
    retryLag: nothing,
    settings: [
      {
        brokerGroupName: 'broker-a',
        consumeEnabled: true,
        broadcastAllowed: true,
        isOrdered: false,
        retryCountMax: 16,
        consumeTimeoutMinutes: 15,
        consumeFromMinEnabled: true,
        retryQueueCount: 1,
        notifiesMembers: true,
      },
    ],
    members: [
      {
        clientId: '10.0.0.7@412',
        address: '10.0.0.7:50000',
        language: 'JAVA',
        version: 513,
        versionName: '5.5.0',
        brokerGroupNames: ['broker-a'],
        addresses: ['10.0.0.7:50000'],
        subscriptions: ['orders (TAG *)'],
        messageModels: ['CLUSTERING'],
      },
    ],
    subscriptions: [{ topic: 'orders', expressions: ['*'] }],
    queues: [aConsumerQueue()],
    unknown: [],
    ...change,
  };
}

export function aGroupRow(change: Partial<Row> = {}): Row {
  return {
    name: 'billing',
    brokerGroupNames: ['broker-a'],
    state: 'ACTIVE',
    brokerCountTold: 1,
    brokerCountAsked: 1,
    memberCount: 2,
    protection: null,
    lag: aLag(),
    retryLag: nothing,
    ...change,
  };
}

export function groupPage(
  nodes: Row[],
  unknown: ConsumerGroupsQuery['consumerGroups']['unknown'] = [],
): ConsumerGroupsQuery {
  return {
    consumerGroups: {
      nodes,
      unknown,
      totalCount: nodes.length,
      observedAt: '2026-11-22T10:00:00Z',
      pageInfo: { hasNextPage: false, endCursor: null },
    },
  };
}
