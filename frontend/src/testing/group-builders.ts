import type {
  ElectionFieldsFragment,
  ElectionVerdict,
  GroupChangeFieldsFragment,
  GroupHealthFieldsFragment,
  LogHistoryFieldsFragment,
  ReplicaFieldsFragment,
  ReplicaGroupFieldsFragment,
} from '@/gql/operations';
import type { Answers } from './control-plane';

export function aReplica(change: Partial<ReplicaFieldsFragment> = {}): ReplicaFieldsFragment {
  const brokerId = change.brokerId ?? '1';
  return {
    brokerId,
    address: `10.0.0.${brokerId}:10911`,
    isMaster: brokerId === '1',
    isInSync: true,
    isAlive: true,
    lastHeartbeatAt: new Date().toISOString(),
    epoch: 17,
    maxOffset: '15262930112',
    confirmOffset: '15262930112',
    isVerified: true,
    isCordoned: false,
    protocolVersion: 2,
    ...change,
  };
}

/** What the control plane says of one group; healthy by default. */
export function aGroupHealth(
  change: Partial<GroupHealthFieldsFragment> = {},
): GroupHealthFieldsFragment {
  return {
    brokerGroupName: 'broker-a',
    verdict: 'HEALTHY',
    sentence: 'broker-a: 3 of 3 replicas are alive.',
    nextFailure: 'One more failure stops nothing: another replica takes over.',
    hasWriter: true,
    writerFault: null,
    ...change,
  };
}

/** Three replicas in sync, the first one the master. */
export function aGroup(change: Partial<ReplicaGroupFieldsFragment> = {}) {
  return {
    clusterName: 'regent',
    name: 'broker-a',
    leasePolicy: 'QUORUM',
    leaseLeftMs: '2400',
    masterId: '1',
    preferredId: null,
    confirmedEpoch: 17,
    confirmedPosition: '1000',
    masterEpoch: 17,
    protocolVersion: 2,
    versionLimit: null,
    isMasterAlive: true,
    syncStateSet: ['1', '2', '3'],
    syncStateSetEpoch: 41,
    replicas: ['1', '2', '3'].map((brokerId) => aReplica({ brokerId })),
    ...change,
  } satisfies ReplicaGroupFieldsFragment;
}

type Verdict = [brokerId: string, verdict: ElectionVerdict, reason: string];

const unchanged: Verdict[] = [
  ['1', 'STAYS', 'is master and stays master'],
  ['2', 'MASTER_STAYS', 'can become master, but the current master is alive'],
  ['3', 'MASTER_STAYS', 'can become master, but the current master is alive'],
];

export function anElection(
  verdicts: Verdict[] = unchanged,
  change: Partial<ElectionFieldsFragment> = {},
): ElectionFieldsFragment {
  const winner = verdicts.find(([, verdict]) => verdict === 'WINS' || verdict === 'STAYS');
  return {
    winnerId: winner?.[0] ?? null,
    isUnchanged: winner?.[1] === 'STAYS',
    awaitsLeaseMs: '0',
    warning: null,
    candidates: verdicts.map(([brokerId, verdict, reason]) => ({ brokerId, verdict, reason })),
    ...change,
  };
}

export function aChange(
  change: Partial<GroupChangeFieldsFragment> = {},
): GroupChangeFieldsFragment {
  return {
    id: '1',
    kind: 'MASTER_ELECTED',
    cause: 'broker 1 asked',
    warning: null,
    changedAt: '2026-03-01T12:00:00Z',
    masterId: '1',
    masterEpoch: 1,
    syncStateSet: ['1'],
    syncStateSetEpoch: 1,
    replicaAddresses: ['1', '2', '3'].map((brokerId) => ({
      brokerId,
      address: `10.0.0.${brokerId}:10911`,
    })),
    ...change,
  };
}

export function aHistory(change: Partial<LogHistoryFieldsFragment> = {}): LogHistoryFieldsFragment {
  const brokerId = change.brokerId ?? '1';
  return {
    brokerId,
    address: `10.0.0.${brokerId}:10911`,
    maxOffset: '4000',
    error: null,
    epochs: [
      { epoch: 1, startOffset: '0', endOffset: '1000' },
      { epoch: 2, startOffset: '1000', endOffset: null },
    ],
    ...change,
  };
}

function inCluster(replicaGroup: unknown) {
  return { cluster: { id: 'c1', replicaGroup } };
}

function page<T>(nodes: T[], endCursor: string | null, totalCount: number) {
  return { totalCount, pageInfo: { hasNextPage: endCursor !== null, endCursor }, nodes };
}

export function groupPage(
  groups: ReplicaGroupFieldsFragment[],
  endCursor: string | null = null,
  totalCount = groups.length,
) {
  return { cluster: { id: 'c1', replicaGroups: page(groups, endCursor, totalCount) } };
}

export function groupDetail(
  group: ReplicaGroupFieldsFragment | null,
  election = anElection(),
  health: Partial<GroupHealthFieldsFragment> = {},
) {
  return inCluster(group && { ...group, election, health: aGroupHealth(health) });
}

export function electionAnswer(election: ElectionFieldsFragment) {
  return inCluster({ election });
}

export function changePage(
  changes: GroupChangeFieldsFragment[],
  endCursor: string | null = null,
  totalCount = changes.length,
) {
  return inCluster({ changes: page(changes, endCursor, totalCount) });
}

export function epochsAnswer(
  replicas: LogHistoryFieldsFragment[],
  differingEpoch: number | null = null,
) {
  return inCluster({ epochs: { differingEpoch, replicas } });
}

export function obstaclesAnswer(obstacles: (string | null)[]) {
  const replicas = obstacles.map((obstacle, index) => ({ brokerId: `${index + 1}`, obstacle }));
  return inCluster({ lag: { replicas } });
}

/** A healthy group of three. */
export function groupAnswers(): Answers {
  return {
    ReplicaGroups: () => groupPage([aGroup()]),
    ReplicaGroup: () => groupDetail(aGroup()),
    DesignatedElection: () => electionAnswer(anElection()),
    GroupChanges: () => changePage([aChange()]),
    GroupObstacles: () => obstaclesAnswer([null, null, null]),
    GroupEpochs: () => epochsAnswer(['1', '2', '3'].map((brokerId) => aHistory({ brokerId }))),
  };
}
