/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type BrokerRole =
  | 'MASTER'
  | 'REPLICA';

export type BrokerState =
  | 'OFFLINE'
  | 'ONLINE';

export type CapacityRowKind =
  | 'DISK'
  | 'TOPIC_DAY';

export type TopicKind =
  | 'DEAD_LETTER'
  | 'NORMAL'
  | 'RETRY'
  | 'SYSTEM';

export type CapacityReportSummaryFragment = { id: string, status: string, requestedAt: string, startedAt: string | null, finishedAt: string | null, requestedBy: string, error: string | null, coverageFrom: string | null, coverageTo: string | null, sampleCount: string | null };

export type CapacityRowFieldsFragment = { kind: CapacityRowKind, clusterName: string, groupName: string, brokerId: string, topicName: string | null, day: string | null, bytes: string | null, diskTotalBytes: string | null, diskFreeBytes: string | null, bytesPerDay: number | null, daysUntilFull: number | null, note: string | null };

export type CapacityReportsQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
}>;


export type CapacityReportsQuery = { capacityReports: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, status: string, requestedAt: string, startedAt: string | null, finishedAt: string | null, requestedBy: string, error: string | null, coverageFrom: string | null, coverageTo: string | null, sampleCount: string | null }> } };

export type CapacityReportQueryVariables = Exact<{
  id: string | number;
}>;


export type CapacityReportQuery = { capacityReport: { id: string, status: string, requestedAt: string, startedAt: string | null, finishedAt: string | null, requestedBy: string, error: string | null, coverageFrom: string | null, coverageTo: string | null, sampleCount: string | null, disks: Array<{ kind: CapacityRowKind, clusterName: string, groupName: string, brokerId: string, topicName: string | null, day: string | null, bytes: string | null, diskTotalBytes: string | null, diskFreeBytes: string | null, bytesPerDay: number | null, daysUntilFull: number | null, note: string | null }>, topicDays: Array<{ kind: CapacityRowKind, clusterName: string, groupName: string, brokerId: string, topicName: string | null, day: string | null, bytes: string | null, diskTotalBytes: string | null, diskFreeBytes: string | null, bytesPerDay: number | null, daysUntilFull: number | null, note: string | null }> } | null };

export type RequestCapacityReportMutationVariables = Exact<{ [key: string]: never; }>;


export type RequestCapacityReportMutation = { requestCapacityReport: { id: string, status: string, requestedAt: string, startedAt: string | null, finishedAt: string | null, requestedBy: string, error: string | null, coverageFrom: string | null, coverageTo: string | null, sampleCount: string | null } };

export type ClustersQueryVariables = Exact<{
  first: number;
}>;


export type ClustersQuery = { clusters: { totalCount: number, nodes: Array<{ id: string, name: string }> } };

export type OverviewQueryVariables = Exact<{ [key: string]: never; }>;


export type OverviewQuery = { overview: { clusterCount: number, brokerGroupCount: number, brokerCount: number, onlineBrokerCount: number, topicCount: number, soonestFullDisk: { clusterName: string, groupName: string, brokerId: string, diskTotalBytes: string | null, diskFreeBytes: string | null, bytesPerDay: number | null, daysUntilFull: number | null, note: string | null } | null }, capacityReports: { nodes: Array<{ id: string, status: string }> } };

export type TopicsQueryVariables = Exact<{
  clusterName: string;
  first: number;
  after?: string | null | undefined;
  search?: string | null | undefined;
  kind?: TopicKind | null | undefined;
}>;


export type TopicsQuery = { cluster: { id: string, topics: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, name: string, kind: TopicKind, messagesInPerSecond: number | null, bytesInPerSecond: number | null, placements: Array<{ groupName: string, readQueueCount: number, writeQueueCount: number, readable: boolean, writable: boolean, inherited: boolean }> }> } } | null };

export type TopicQueryVariables = Exact<{
  clusterName: string;
  topicName: string;
}>;


export type TopicQuery = { cluster: { id: string, topic: { id: string, name: string, kind: TopicKind, clusterName: string, messagesInPerSecond: number | null, bytesInPerSecond: number | null, placements: Array<{ groupName: string, readQueueCount: number, writeQueueCount: number, readable: boolean, writable: boolean, inherited: boolean, isOrdered: boolean }>, queues: Array<{ groupName: string, queueId: number, minOffset: string | null, maxOffset: string | null, observedAt: string | null }>, route: Array<{ groupName: string, readQueueCount: number, writeQueueCount: number, permissions: number, brokers: Array<{ brokerId: string, address: string }> }> } | null } | null };

export type BrokerFieldsFragment = { id: string, brokerId: string, groupName: string, role: BrokerRole, state: BrokerState, address: string, haAddress: string | null, registeredAt: string, lastHeartbeatAt: string | null, latestSample: { clusterName: string, groupName: string, brokerId: string, observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null, bytesInPerSecond: number | null, bytesOutPerSecond: number | null, storeBytes: string, diskTotalBytes: string, diskFreeBytes: string, residentBytes: string, commitLogMaxPosition: string } | null };

export type TopologyQueryVariables = Exact<{
  clusterName: string;
  groupCount: number;
  after?: string | null | undefined;
}>;


export type TopologyQuery = { nameServers: Array<{ address: string, startedAt: string, routeVersion: string, topicCount: number, brokerCount: number, connectionCount: number }>, cluster: { id: string, name: string, routeVersion: string, brokerGroups: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, name: string, clusterName: string, brokers: Array<{ id: string, brokerId: string, groupName: string, role: BrokerRole, state: BrokerState, address: string, haAddress: string | null, registeredAt: string, lastHeartbeatAt: string | null, latestSample: { clusterName: string, groupName: string, brokerId: string, observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null, bytesInPerSecond: number | null, bytesOutPerSecond: number | null, storeBytes: string, diskTotalBytes: string, diskFreeBytes: string, residentBytes: string, commitLogMaxPosition: string } | null }> }> } } | null };

export type SampleFieldsFragment = { clusterName: string, groupName: string, brokerId: string, observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null, bytesInPerSecond: number | null, bytesOutPerSecond: number | null, storeBytes: string, diskTotalBytes: string, diskFreeBytes: string, residentBytes: string, commitLogMaxPosition: string };

export type SamplesSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type SamplesSubscription = { samples: { clusterName: string, groupName: string, brokerId: string, observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null, bytesInPerSecond: number | null, bytesOutPerSecond: number | null, storeBytes: string, diskTotalBytes: string, diskFreeBytes: string, residentBytes: string, commitLogMaxPosition: string } };

export type TopologyChangedSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type TopologyChangedSubscription = { topologyChanged: { clusterName: string, routeVersion: string } };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const CapacityReportSummaryFragmentDoc = new TypedDocumentString(`
    fragment CapacityReportSummary on CapacityReport {
  id
  status
  requestedAt
  startedAt
  finishedAt
  requestedBy
  error
  coverageFrom
  coverageTo
  sampleCount
}
    `, {"fragmentName":"CapacityReportSummary"}) as unknown as TypedDocumentString<CapacityReportSummaryFragment, unknown>;
export const CapacityRowFieldsFragmentDoc = new TypedDocumentString(`
    fragment CapacityRowFields on CapacityRow {
  kind
  clusterName
  groupName
  brokerId
  topicName
  day
  bytes
  diskTotalBytes
  diskFreeBytes
  bytesPerDay
  daysUntilFull
  note
}
    `, {"fragmentName":"CapacityRowFields"}) as unknown as TypedDocumentString<CapacityRowFieldsFragment, unknown>;
export const SampleFieldsFragmentDoc = new TypedDocumentString(`
    fragment SampleFields on BrokerSample {
  clusterName
  groupName
  brokerId
  observedAt
  messagesInPerSecond
  messagesOutPerSecond
  bytesInPerSecond
  bytesOutPerSecond
  storeBytes
  diskTotalBytes
  diskFreeBytes
  residentBytes
  commitLogMaxPosition
}
    `, {"fragmentName":"SampleFields"}) as unknown as TypedDocumentString<SampleFieldsFragment, unknown>;
export const BrokerFieldsFragmentDoc = new TypedDocumentString(`
    fragment BrokerFields on Broker {
  id
  brokerId
  groupName
  role
  state
  address
  haAddress
  registeredAt
  lastHeartbeatAt
  latestSample {
    ...SampleFields
  }
}
    fragment SampleFields on BrokerSample {
  clusterName
  groupName
  brokerId
  observedAt
  messagesInPerSecond
  messagesOutPerSecond
  bytesInPerSecond
  bytesOutPerSecond
  storeBytes
  diskTotalBytes
  diskFreeBytes
  residentBytes
  commitLogMaxPosition
}`, {"fragmentName":"BrokerFields"}) as unknown as TypedDocumentString<BrokerFieldsFragment, unknown>;
export const CapacityReportsDocument = new TypedDocumentString(`
    query CapacityReports($first: Int!, $after: String) {
  capacityReports(first: $first, after: $after) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...CapacityReportSummary
    }
  }
}
    fragment CapacityReportSummary on CapacityReport {
  id
  status
  requestedAt
  startedAt
  finishedAt
  requestedBy
  error
  coverageFrom
  coverageTo
  sampleCount
}`) as unknown as TypedDocumentString<CapacityReportsQuery, CapacityReportsQueryVariables>;
export const CapacityReportDocument = new TypedDocumentString(`
    query CapacityReport($id: ID!) {
  capacityReport(id: $id) {
    ...CapacityReportSummary
    disks: rows(kind: DISK) {
      ...CapacityRowFields
    }
    topicDays: rows(kind: TOPIC_DAY) {
      ...CapacityRowFields
    }
  }
}
    fragment CapacityReportSummary on CapacityReport {
  id
  status
  requestedAt
  startedAt
  finishedAt
  requestedBy
  error
  coverageFrom
  coverageTo
  sampleCount
}
fragment CapacityRowFields on CapacityRow {
  kind
  clusterName
  groupName
  brokerId
  topicName
  day
  bytes
  diskTotalBytes
  diskFreeBytes
  bytesPerDay
  daysUntilFull
  note
}`) as unknown as TypedDocumentString<CapacityReportQuery, CapacityReportQueryVariables>;
export const RequestCapacityReportDocument = new TypedDocumentString(`
    mutation RequestCapacityReport {
  requestCapacityReport {
    ...CapacityReportSummary
  }
}
    fragment CapacityReportSummary on CapacityReport {
  id
  status
  requestedAt
  startedAt
  finishedAt
  requestedBy
  error
  coverageFrom
  coverageTo
  sampleCount
}`) as unknown as TypedDocumentString<RequestCapacityReportMutation, RequestCapacityReportMutationVariables>;
export const ClustersDocument = new TypedDocumentString(`
    query Clusters($first: Int!) {
  clusters(first: $first) {
    totalCount
    nodes {
      id
      name
    }
  }
}
    `) as unknown as TypedDocumentString<ClustersQuery, ClustersQueryVariables>;
export const OverviewDocument = new TypedDocumentString(`
    query Overview {
  overview {
    clusterCount
    brokerGroupCount
    brokerCount
    onlineBrokerCount
    topicCount
    soonestFullDisk {
      clusterName
      groupName
      brokerId
      diskTotalBytes
      diskFreeBytes
      bytesPerDay
      daysUntilFull
      note
    }
  }
  capacityReports(first: 5) {
    nodes {
      id
      status
    }
  }
}
    `) as unknown as TypedDocumentString<OverviewQuery, OverviewQueryVariables>;
export const TopicsDocument = new TypedDocumentString(`
    query Topics($clusterName: String!, $first: Int!, $after: String, $search: String, $kind: TopicKind) {
  cluster(name: $clusterName) {
    id
    topics(first: $first, after: $after, search: $search, kind: $kind) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      nodes {
        id
        name
        kind
        messagesInPerSecond
        bytesInPerSecond
        placements {
          groupName
          readQueueCount
          writeQueueCount
          readable
          writable
          inherited
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TopicsQuery, TopicsQueryVariables>;
export const TopicDocument = new TypedDocumentString(`
    query Topic($clusterName: String!, $topicName: String!) {
  cluster(name: $clusterName) {
    id
    topic(name: $topicName) {
      id
      name
      kind
      clusterName
      messagesInPerSecond
      bytesInPerSecond
      placements {
        groupName
        readQueueCount
        writeQueueCount
        readable
        writable
        inherited
        isOrdered
      }
      queues {
        groupName
        queueId
        minOffset
        maxOffset
        observedAt
      }
      route {
        groupName
        readQueueCount
        writeQueueCount
        permissions
        brokers {
          brokerId
          address
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<TopicQuery, TopicQueryVariables>;
export const TopologyDocument = new TypedDocumentString(`
    query Topology($clusterName: String!, $groupCount: Int!, $after: String) {
  nameServers {
    address
    startedAt
    routeVersion
    topicCount
    brokerCount
    connectionCount
  }
  cluster(name: $clusterName) {
    id
    name
    routeVersion
    brokerGroups(first: $groupCount, after: $after) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      nodes {
        id
        name
        clusterName
        brokers {
          ...BrokerFields
        }
      }
    }
  }
}
    fragment BrokerFields on Broker {
  id
  brokerId
  groupName
  role
  state
  address
  haAddress
  registeredAt
  lastHeartbeatAt
  latestSample {
    ...SampleFields
  }
}
fragment SampleFields on BrokerSample {
  clusterName
  groupName
  brokerId
  observedAt
  messagesInPerSecond
  messagesOutPerSecond
  bytesInPerSecond
  bytesOutPerSecond
  storeBytes
  diskTotalBytes
  diskFreeBytes
  residentBytes
  commitLogMaxPosition
}`) as unknown as TypedDocumentString<TopologyQuery, TopologyQueryVariables>;
export const SamplesDocument = new TypedDocumentString(`
    subscription Samples {
  samples {
    ...SampleFields
  }
}
    fragment SampleFields on BrokerSample {
  clusterName
  groupName
  brokerId
  observedAt
  messagesInPerSecond
  messagesOutPerSecond
  bytesInPerSecond
  bytesOutPerSecond
  storeBytes
  diskTotalBytes
  diskFreeBytes
  residentBytes
  commitLogMaxPosition
}`) as unknown as TypedDocumentString<SamplesSubscription, SamplesSubscriptionVariables>;
export const TopologyChangedDocument = new TypedDocumentString(`
    subscription TopologyChanged {
  topologyChanged {
    clusterName
    routeVersion
  }
}
    `) as unknown as TypedDocumentString<TopologyChangedSubscription, TopologyChangedSubscriptionVariables>;