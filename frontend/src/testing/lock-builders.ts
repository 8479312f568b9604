import type {
  LeasesQuery,
  LockFieldsFragment,
  LocksQuery,
  OperationLeasesQuery,
  QueueExplanationsQuery,
} from '@/gql/operations';
import type { Answers } from './control-plane';

type Explanation = QueueExplanationsQuery['queueExplanations'][number];

/** A lock whose holder is gone. */
export function aLock(change: Partial<LockFieldsFragment> = {}): LockFieldsFragment {
  return {
    clusterName: 'regent',
    consumerGroupName: 'billing',
    topic: 'orders',
    brokerGroupName: 'broker-a',
    brokerAddress: '127.0.0.1:10911',
    queueId: 3,
    isLogical: false,
    physicalQueueId: null,
    clientId: '10.0.0.7@412',
    holder: 'GONE',
    heldMs: '120000',
    renewedMs: '48000',
    expiresInMs: '12000',
    heardMs: null,
    ...change,
  };
}

export function lockPage(
  nodes: LockFieldsFragment[],
  unknown: LocksQuery['locks']['unknown'] = [],
): LocksQuery {
  return {
    locks: {
      observedAt: new Date().toISOString(),
      totalCount: nodes.length,
      pageInfo: { hasNextPage: false, endCursor: null },
      nodes,
      unknown,
    },
  };
}

export function anExplanation(change: Partial<Explanation> = {}): Explanation {
  return {
    brokerGroupName: 'broker-a',
    queueId: 3,
    isPaused: true,
    cause: 'HOLDER_GONE',
    sentence: 'orders/3 on broker-a is locked by 10.0.0.7@412, which is gone',
    evidence: ['it renewed last 48 s ago'],
    lag: '12',
    ...change,
  };
}

export function explanations(queueExplanations: Explanation[]): QueueExplanationsQuery {
  return { queueExplanations };
}

function leasePage(): LeasesQuery {
  const lease = {
    clusterName: 'regent',
    brokerGroupName: 'broker-a',
    masterId: '1',
    masterAddress: '10.0.0.1:10911',
    masterEpoch: 17,
    policy: 'QUORUM',
    isMasterAlive: true,
    endsAt: null,
  } as const;
  const pageInfo = { hasNextPage: false, endCursor: null };
  return { leases: { totalCount: 1, pageInfo, nodes: [lease] } };
}

function operationLeasePage(): OperationLeasesQuery {
  const lease = {
    operationId: 'c0ffee00-0000-4000-8000-000000000001',
    kind: 'drain_broker',
    target: 'broker-a/0',
    step: 'wait until all is read',
    fence: '1770000000000',
    renewedAt: '2026-03-02T12:00:00Z',
    endsAt: '2026-03-02T12:00:05Z',
  };
  return { operationLeases: { totalCount: 1, nodes: [lease] } };
}

export function lockAnswers(): Answers {
  return {
    Locks: () => lockPage([aLock()]),
    Leases: leasePage,
    OperationLeases: operationLeasePage,
    QueueExplanations: () => explanations([anExplanation()]),
  };
}
