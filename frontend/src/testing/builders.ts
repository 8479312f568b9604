import type {
  BrokerFieldsFragment,
  CapacityReportSummaryFragment,
  CapacityRowFieldsFragment,
  HealthQuery,
  OverviewQuery,
  RatesQuery,
  SampleFieldsFragment,
  TopicQuery,
  TopologyQuery,
} from '@/gql/operations';
import { accessAnswers } from './access-builders';
import { containerAnswers } from './container-builders';
import type { Answers } from './control-plane';
import { openFindingsOf } from './finding-builders';
import { groupAnswers } from './group-builders';
import { groupMemberAnswers } from './group-member-builders';
import { lockAnswers } from './lock-builders';
import { deadLetterPage } from './message-builders';
import { operationAnswers } from './operation-builders';
import { shareQueueAnswers } from './share-queue-builders';
import { staticTopicAnswers } from './static-topic-builders';
import { timerAnswers } from './timer-builders';
import { transactionAnswers } from './transaction-builders';

/** Valid by default; a test states only what it is about. */
export function aSample(change: Partial<SampleFieldsFragment> = {}): SampleFieldsFragment {
  const { brokerGroupName = 'broker-a', brokerId = '0' } = change;
  return {
    clusterName: 'regent',
    brokerGroupName,
    brokerName: `${brokerGroupName}-${brokerId}`,
    brokerId,
    observedAt: new Date().toISOString(),
    messagesInPerSecond: 10,
    messagesOutPerSecond: 20,
    bytesInPerSecond: 1024,
    bytesOutPerSecond: 2048,
    storeBytes: '1073741824',
    diskTotalBytes: '107374182400',
    diskFreeBytes: '53687091200',
    residentBytes: '94371840',
    commitLogMaxPosition: '4096',
    ...change,
  };
}

export function aBroker(change: Partial<BrokerFieldsFragment> = {}): BrokerFieldsFragment {
  const brokerGroupName = change.brokerGroupName ?? 'broker-a';
  const brokerId = change.brokerId ?? '0';
  const ownId = change.ownId ?? brokerId;
  const name = `${brokerGroupName}-${ownId}`;
  return {
    id: `${brokerGroupName}/${brokerId}`,
    name,
    ownId,
    brokerId,
    brokerGroupName,
    role: 'MASTER',
    state: 'ONLINE',
    address: '127.0.0.1:10911',
    haAddress: null,
    registeredAt: new Date().toISOString(),
    isRegistered: true,
    lastHeartbeatAt: new Date().toISOString(),
    latestSample: aSample({ brokerGroupName, brokerName: name, brokerId }),
    ...change,
  };
}

export function aTopology(brokers: BrokerFieldsFragment[]): TopologyQuery {
  const names = [...new Set(brokers.map((broker) => broker.brokerGroupName))];
  return {
    nameServers: [
      {
        address: '127.0.0.1:9876',
        startedAt: new Date().toISOString(),
        routeVersion: '7',
        topicCount: 3,
        brokerCount: brokers.length,
        connectionCount: 5,
      },
    ],
    cluster: {
      id: 'c1',
      name: 'regent',
      routeVersion: '7',
      brokerGroups: {
        totalCount: names.length,
        pageInfo: { hasNextPage: false, endCursor: null },
        nodes: names.map((name) => ({
          id: name,
          name,
          clusterName: 'regent',
          actingBroker: null,
          brokers: brokers.filter((broker) => broker.brokerGroupName === name),
        })),
      },
    },
  };
}

export function anOverview(change: Partial<OverviewQuery['overview']> = {}): OverviewQuery {
  return {
    overview: {
      clusterCount: 1,
      brokerGroupCount: 2,
      brokerCount: 2,
      onlineBrokerCount: 2,
      topicCount: 3,
      soonestFullDisk: null,
      ...change,
    },
    capacityReports: { nodes: [] },
  };
}

export function aHealth(change: Partial<HealthQuery['health']> = {}): HealthQuery {
  return {
    health: {
      verdict: 'HEALTHY',
      sentence: 'All 2 broker groups are healthy: 4 of 4 brokers are alive.',
      nextFailure: 'One more failure stops no group.',
      groupCount: 2,
      replicaCount: 4,
      aliveCount: 4,
      observedAt: new Date().toISOString(),
      troubled: [],
      ...change,
    },
  };
}

type Topic = NonNullable<NonNullable<TopicQuery['cluster']>['topic']>;

export function aTopic(change: Partial<Topic> = {}): Topic {
  return {
    id: 't1',
    name: 'orders',
    kind: 'NORMAL',
    clusterName: 'regent',
    protection: null,
    messagesInPerSecond: 4,
    bytesInPerSecond: 4096,
    placements: [
      {
        brokerGroupName: 'broker-a',
        readQueueCount: 8,
        writeQueueCount: 8,
        readable: true,
        writable: true,
        inherited: false,
        isOrdered: false,
        messageType: null,
        shareMode: 'PRIMARY',
        isTimeShared: false,
        isReplicated: true,
      },
    ],
    queues: [
      {
        brokerGroupName: 'broker-a',
        queueId: 0,
        minOffset: '0',
        maxOffset: '1200',
        observedAt: new Date().toISOString(),
      },
    ],
    route: [
      {
        brokerGroupName: 'broker-a',
        readQueueCount: 8,
        writeQueueCount: 8,
        permissions: 6,
        brokers: [{ brokerId: '0', address: '127.0.0.1:10911' }],
      },
    ],
    ...change,
  };
}

export function aReport(
  change: Partial<CapacityReportSummaryFragment> = {},
): CapacityReportSummaryFragment {
  return {
    id: '00000000-0000-4000-8000-000000000001',
    status: 'done',
    requestedAt: '2026-03-01T10:00:00Z',
    startedAt: '2026-03-01T10:00:01Z',
    finishedAt: '2026-03-01T10:00:31Z',
    requestedBy: 'admin',
    error: null,
    coverageFrom: '2026-02-01T10:00:00Z',
    coverageTo: '2026-03-01T10:00:00Z',
    sampleCount: '483840',
    ...change,
  };
}

export function aRow(change: Partial<CapacityRowFieldsFragment> = {}): CapacityRowFieldsFragment {
  return {
    kind: 'DISK',
    clusterName: 'regent',
    brokerName: 'broker-a-0',
    topicName: null,
    day: null,
    bytes: null,
    diskTotalBytes: '107374182400',
    diskFreeBytes: '53687091200',
    bytesPerDay: 1_073_741_824,
    daysUntilFull: 50,
    note: null,
    ...change,
  };
}

export function topicPage(topics: Topic[], endCursor: string | null = null, totalCount?: number) {
  return {
    cluster: {
      id: 'c1',
      topics: {
        totalCount: totalCount ?? topics.length,
        pageInfo: { hasNextPage: endCursor !== null, endCursor },
        nodes: topics,
      },
    },
  };
}

export function reportPage(reports: CapacityReportSummaryFragment[]) {
  return {
    capacityReports: {
      totalCount: reports.length,
      pageInfo: { hasNextPage: false, endCursor: null },
      nodes: reports,
    },
  };
}

function brokerAnswers(): Answers {
  const property = {
    effect: 'LIVE',
    stored: null,
    default: null,
    low: null,
    high: null,
    choices: [],
  };
  const integer = { ...property, type: 'INTEGER', low: '1', high: '60000' };
  return {
    BrokerPage: () => ({ broker: { ...aBroker(), protection: null, replica: null } }),
    BrokerConfig: () => ({
      brokerConfig: {
        address: '127.0.0.1:10911',
        properties: [
          { ...property, name: 'brokerPermission', type: 'TEXT', value: '6' },
          { ...integer, name: 'slaveTimeout', value: '3000', default: '3000' },
        ],
      },
    }),
  };
}

/** A healthy cluster of two groups with one master each. */
/** What was kept of the rates: so many seconds ago, so many messages a second. */
export function ratesOf(points: [agoSeconds: number, rate: number | null][]): RatesQuery {
  const rates = points.map(([agoSeconds, rate]) => ({
    observedAt: new Date(Date.now() - agoSeconds * 1_000).toISOString(),
    messagesInPerSecond: rate,
    messagesOutPerSecond: rate,
  }));
  return { rates };
}

export function clusterAnswers(): Answers {
  return {
    Clusters: () => ({ clusters: { totalCount: 1, nodes: [{ id: 'c1', name: 'regent' }] } }),
    Overview: () => anOverview(),
    Health: () => aHealth(),
    Rates: () => ratesOf([]),
    Topology: () => aTopology([aBroker(), aBroker({ brokerGroupName: 'broker-b' })]),
    Topics: () => topicPage([aTopic()]),
    Topic: () => ({ cluster: { id: 'c1', topic: aTopic() } }),
    ...staticTopicAnswers,
    OpenFindings: () => openFindingsOf(),
    DeadLetters: () => deadLetterPage([]),
    ...groupAnswers(),
    ...groupMemberAnswers(),
    ...operationAnswers(),
    ...lockAnswers(),
    ...containerAnswers(),
    ...shareQueueAnswers(),
    ...timerAnswers(),
    ...transactionAnswers(),
    ...accessAnswers(),
    ...brokerAnswers(),
    CapacityReports: () => reportPage([]),
    CapacityReport: () => ({ capacityReport: null }),
    EventPosition: () => ({ events: { newestNumber: '100' } }),
  };
}
