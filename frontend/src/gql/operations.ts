/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type AdoptReplicasInput = {
  acceptsLoss?: boolean;
  brokerIds: Array<string>;
  clusterName: string;
  groupName: string;
  leastEpoch?: number | null | undefined;
  masterId?: string | null | undefined;
};

export type Agreement =
  | 'AGREES'
  | 'DIFFERS'
  | 'UNKNOWN';

export type BrokerOrderInput = {
  address?: string | null | undefined;
  brokerId?: string;
  clusterName: string;
  groupName: string;
};

export type BrokerRole =
  | 'MASTER'
  | 'REPLICA';

export type BrokerState =
  | 'OFFLINE'
  | 'ONLINE';

export type CapacityRowKind =
  | 'DISK'
  | 'TOPIC_DAY';

export type ChangeBrokerConfigInput = {
  brokerId?: string;
  changes: Array<PropertyChangeInput>;
  clusterName: string;
  groupName: string;
};

export type ChangeConsumerGroupInput = {
  broadcastAllowed?: boolean | null | undefined;
  brokerGroups?: Array<string>;
  clusterName: string;
  consumeEnabled?: boolean | null | undefined;
  consumeFromMinEnabled?: boolean | null | undefined;
  consumeTimeoutMinutes?: number | null | undefined;
  groupName: string;
  isOrdered?: boolean | null | undefined;
  notifiesMembers?: boolean | null | undefined;
  retryCountMax?: number | null | undefined;
  retryQueueCount?: number | null | undefined;
};

export type ChangeTopicInput = {
  brokerGroups?: Array<string>;
  clusterName: string;
  isOrdered?: boolean | null | undefined;
  isReadable?: boolean | null | undefined;
  isWritable?: boolean | null | undefined;
  messageType?: TopicMessageType | null | undefined;
  readQueueCount?: number | null | undefined;
  topicName: string;
  writeQueueCount?: number | null | undefined;
};

export type CheckVerdict =
  | 'BLOCK'
  | 'PASS'
  | 'WARN';

export type ConfirmationInput = {
  acceptsLoss?: boolean;
  reason?: string | null | undefined;
  typedName?: string | null | undefined;
};

export type CreateConsumerGroupInput = {
  broadcastAllowed?: boolean;
  brokerGroups?: Array<string>;
  clusterName: string;
  consumeEnabled?: boolean;
  consumeFromMinEnabled?: boolean;
  consumeTimeoutMinutes?: number;
  groupName: string;
  isOrdered?: boolean;
  notifiesMembers?: boolean;
  retryCountMax?: number;
  retryQueueCount?: number;
};

export type CreateTopicInput = {
  brokerGroups?: Array<string>;
  clusterName: string;
  isOrdered?: boolean;
  isReadable?: boolean;
  isWritable?: boolean;
  messageType?: TopicMessageType | null | undefined;
  readQueueCount?: number;
  topicName: string;
  writeQueueCount?: number;
};

export type DeleteConsumerGroupInput = {
  brokerGroups?: Array<string>;
  cleansOffsets?: boolean;
  clusterName: string;
  groupName: string;
};

export type DeleteTopicInput = {
  brokerGroups?: Array<string>;
  clusterName: string;
  onlyEmpty?: boolean;
  topicName: string;
};

export type DrainBrokerInput = {
  address?: string | null | undefined;
  brokerId?: string;
  clusterName: string;
  groupName: string;
  waivedGroups?: Array<string>;
};

export type ElectMasterInput = {
  brokerId?: string | null | undefined;
  clusterName: string;
  groupName: string;
  mode?: ElectionMode;
};

export type ElectionMode =
  | 'GRACEFUL'
  | 'NOW';

export type ElectionVerdict =
  | 'ASKED_LATER'
  | 'CORDONED'
  | 'HIGHER_ID'
  | 'LOWER_EPOCH'
  | 'LOWER_OFFSET'
  | 'LOWER_PRIORITY'
  | 'MASTER_STAYS'
  | 'NOT_ALIVE'
  | 'NOT_DESIGNATED'
  | 'NOT_IN_SYNC'
  | 'NOT_PREFERRED'
  | 'STAYS'
  | 'UNVERIFIED'
  | 'WINS';

export type ForgetReplicasInput = {
  brokerIds?: Array<string>;
  clusterName: string;
  groupName: string;
  includesLiving?: boolean;
};

export type GroupChangeKind =
  | 'ADDRESS_CHANGED'
  | 'BROKER_ID_APPLIED'
  | 'GROUP_REMOVED'
  | 'MASTER_ELECTED'
  | 'MASTER_LOST'
  | 'PREFERENCE_CHANGED'
  | 'REPLICAS_ADOPTED'
  | 'REPLICAS_REMOVED'
  | 'SYNC_STATE_SET_ALTERED';

export type GroupMode =
  | 'ACTING_MASTER'
  | 'CONTROLLER'
  | 'STATIC';

export type LeasePolicy =
  | 'QUORUM'
  | 'STRICT';

export type OffsetPosition =
  | 'EARLIEST'
  | 'GIVEN'
  | 'LATEST'
  | 'OFFSET'
  | 'TIME';

export type OffsetResetMode =
  | 'AUTO'
  | 'OFFLINE'
  | 'ONLINE';

export type OperationAction =
  | 'CANCEL'
  | 'CONFIRM'
  | 'PAUSE'
  | 'REPLAN'
  | 'RESUME'
  | 'RETRY'
  | 'UNDO';

export type OperationState =
  | 'CANCELLED'
  | 'DONE'
  | 'FAILED'
  | 'LAPSED'
  | 'PARTLY'
  | 'PAUSED'
  | 'PLANNED'
  | 'QUEUED'
  | 'RUNNING'
  | 'UNDONE'
  | 'UNKNOWN';

export type OperationWish =
  | 'CANCEL'
  | 'PAUSE';

export type PlanInput =
  {   adoptReplicas: AdoptReplicasInput; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never;   changeBrokerConfig: ChangeBrokerConfigInput; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never;   changeConsumerGroup: ChangeConsumerGroupInput; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never;   changeTopic: ChangeTopicInput; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never;   cordonBroker: BrokerOrderInput; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never;   createConsumerGroup: CreateConsumerGroupInput; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never;   createTopic: CreateTopicInput; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never;   deleteConsumerGroup: DeleteConsumerGroupInput; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never;   deleteTopic: DeleteTopicInput; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never;   drainBroker: DrainBrokerInput; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never;   electMaster: ElectMasterInput; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never;   forgetBroker: BrokerOrderInput; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never;   forgetReplicas: ForgetReplicasInput; preferMaster?: never; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never;   preferMaster: PreferMasterInput; releaseLocks?: never; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never;   releaseLocks: ReleaseLocksInput; resetOffsets?: never; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never;   resetOffsets: ResetOffsetsInput; uncordonBroker?: never; }
  |  { adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createTopic?: never; deleteConsumerGroup?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; forgetBroker?: never; forgetReplicas?: never; preferMaster?: never; releaseLocks?: never; resetOffsets?: never;   uncordonBroker: BrokerOrderInput; };

export type PreferMasterInput = {
  brokerId?: string | null | undefined;
  clusterName: string;
  groupName: string;
};

export type PropertyChangeInput = {
  name: string;
  value: string;
};

export type QueueOffsetInput = {
  groupName: string;
  offset: string;
  queueId: number;
};

export type ReleaseLocksInput = {
  clientId: string;
  clusterName: string;
  consumerGroup?: string | null | undefined;
  groupName?: string | null | undefined;
  queueId?: number | null | undefined;
  topic?: string | null | undefined;
};

export type ResetOffsetsInput = {
  brokerGroups?: Array<string>;
  clusterName: string;
  consumerGroup: string;
  mode?: OffsetResetMode;
  offset?: string | null | undefined;
  offsets?: Array<QueueOffsetInput>;
  position: OffsetPosition;
  queueIds?: Array<number>;
  timestampMs?: string | null | undefined;
  topicName: string;
};

export type Risk =
  | 'LOSS'
  | 'SERVICE'
  | 'SMALL';

export type StepState =
  | 'DONE'
  | 'FAILED'
  | 'PENDING'
  | 'RUNNING'
  | 'UNKNOWN'
  | 'WAITING';

export type TopicKind =
  | 'DEAD_LETTER'
  | 'NORMAL'
  | 'RETRY'
  | 'SYSTEM';

export type TopicMessageType =
  | 'DELAY'
  | 'FIFO'
  | 'MIXED'
  | 'NORMAL'
  | 'TRANSACTION'
  | 'UNSPECIFIED';

export type AuditEntryFieldsFragment = { number: string, happenedAt: string, actor: string, source: string, action: string, clusterName: string, subject: string, operationId: string | null, details: unknown };

export type AuditEntriesQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
  clusterName?: string | null | undefined;
  actor?: string | null | undefined;
  operationId?: string | number | null | undefined;
}>;


export type AuditEntriesQuery = { auditEntries: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ number: string, happenedAt: string, actor: string, source: string, action: string, clusterName: string, subject: string, operationId: string | null, details: unknown }> } };

export type AuditVerificationQueryVariables = Exact<{
  afterNumber?: string | null | undefined;
  afterHash?: string | null | undefined;
}>;


export type AuditVerificationQuery = { auditVerification: { checkedCount: number, isComplete: boolean, endNumber: string, endHash: string, brokenNumber: string | null, reason: string | null } };

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

export type OperationSummaryFragment = { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, plannedAt: string, requestedBy: string, plan: { summary: string, risk: Risk }, steps: Array<{ position: number, state: StepState }> };

export type StepFieldsFragment = { position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null };

export type OperationFieldsFragment = { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, plan: { summary: string, risk: Risk, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> };

export type OperationsQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
  clusterName?: string | null | undefined;
  state?: OperationState | null | undefined;
  kind?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type OperationsQuery = { operations: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, plannedAt: string, requestedBy: string, plan: { summary: string, risk: Risk }, steps: Array<{ position: number, state: StepState }> }> } };

export type OperationKindsQueryVariables = Exact<{ [key: string]: never; }>;


export type OperationKindsQuery = { operationKinds: Array<string> };

export type OperationQueryVariables = Exact<{
  id: string | number;
}>;


export type OperationQuery = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, plan: { summary: string, risk: Risk, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type OperationFactsQueryVariables = Exact<{
  id: string | number;
}>;


export type OperationFactsQuery = { operation: { id: string, movedFact: { name: string, expected: string, found: string | null } | null } };

export type PlanOperationMutationVariables = Exact<{
  plan: PlanInput;
  key: string;
}>;


export type PlanOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, plan: { summary: string, risk: Risk, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type ConfirmOperationMutationVariables = Exact<{
  id: string | number;
  given: ConfirmationInput;
  key: string;
}>;


export type ConfirmOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, plan: { summary: string, risk: Risk, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type PauseOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type PauseOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, plan: { summary: string, risk: Risk, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type ResumeOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type ResumeOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, plan: { summary: string, risk: Risk, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type CancelOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type CancelOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, plan: { summary: string, risk: Risk, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type RetryOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type RetryOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, plan: { summary: string, risk: Risk, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type UndoOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type UndoOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, plan: { summary: string, risk: Risk, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type ReplanOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type ReplanOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, plan: { summary: string, risk: Risk, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type OverviewQueryVariables = Exact<{ [key: string]: never; }>;


export type OverviewQuery = { overview: { clusterCount: number, brokerGroupCount: number, brokerCount: number, onlineBrokerCount: number, topicCount: number, soonestFullDisk: { clusterName: string, groupName: string, brokerId: string, diskTotalBytes: string | null, diskFreeBytes: string | null, bytesPerDay: number | null, daysUntilFull: number | null, note: string | null } | null }, capacityReports: { nodes: Array<{ id: string, status: string }> } };

export type ReplicaFieldsFragment = { brokerId: string, address: string, isMaster: boolean, isInSync: boolean, isAlive: boolean, lastHeartbeatAt: string | null, epoch: number | null, maxOffset: string | null, confirmOffset: string | null, isVerified: boolean | null };

export type ReplicaGroupFieldsFragment = { clusterName: string, name: string, leasePolicy: LeasePolicy, leaseLeftMs: string, masterId: string | null, masterEpoch: number, isMasterAlive: boolean, syncStateSet: Array<string>, syncStateSetEpoch: number, replicas: Array<{ brokerId: string, address: string, isMaster: boolean, isInSync: boolean, isAlive: boolean, lastHeartbeatAt: string | null, epoch: number | null, maxOffset: string | null, confirmOffset: string | null, isVerified: boolean | null }> };

export type ElectionFieldsFragment = { winnerId: string | null, isUnchanged: boolean, awaitsLeaseMs: string, candidates: Array<{ brokerId: string, verdict: ElectionVerdict, reason: string }> };

export type GroupChangeFieldsFragment = { id: string, kind: GroupChangeKind, cause: string, changedAt: string, masterId: string | null, masterEpoch: number, syncStateSet: Array<string>, syncStateSetEpoch: number, replicaAddresses: Array<{ brokerId: string, address: string }> };

export type LogHistoryFieldsFragment = { brokerId: string, address: string, maxOffset: string | null, error: string | null, epochs: Array<{ epoch: number, startOffset: string, endOffset: string | null }> | null };

export type ReplicaGroupsQueryVariables = Exact<{
  clusterName: string;
  first: number;
  after?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type ReplicaGroupsQuery = { cluster: { id: string, replicaGroups: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ clusterName: string, name: string, leasePolicy: LeasePolicy, leaseLeftMs: string, masterId: string | null, masterEpoch: number, isMasterAlive: boolean, syncStateSet: Array<string>, syncStateSetEpoch: number, replicas: Array<{ brokerId: string, address: string, isMaster: boolean, isInSync: boolean, isAlive: boolean, lastHeartbeatAt: string | null, epoch: number | null, maxOffset: string | null, confirmOffset: string | null, isVerified: boolean | null }> }> } } | null };

export type ReplicaGroupQueryVariables = Exact<{
  clusterName: string;
  groupName: string;
}>;


export type ReplicaGroupQuery = { cluster: { id: string, replicaGroup: { clusterName: string, name: string, leasePolicy: LeasePolicy, leaseLeftMs: string, masterId: string | null, masterEpoch: number, isMasterAlive: boolean, syncStateSet: Array<string>, syncStateSetEpoch: number, election: { winnerId: string | null, isUnchanged: boolean, awaitsLeaseMs: string, candidates: Array<{ brokerId: string, verdict: ElectionVerdict, reason: string }> }, replicas: Array<{ brokerId: string, address: string, isMaster: boolean, isInSync: boolean, isAlive: boolean, lastHeartbeatAt: string | null, epoch: number | null, maxOffset: string | null, confirmOffset: string | null, isVerified: boolean | null }> } | null } | null };

export type DesignatedElectionQueryVariables = Exact<{
  clusterName: string;
  groupName: string;
  brokerId: string;
}>;


export type DesignatedElectionQuery = { cluster: { id: string, replicaGroup: { election: { winnerId: string | null, isUnchanged: boolean, awaitsLeaseMs: string, candidates: Array<{ brokerId: string, verdict: ElectionVerdict, reason: string }> } } | null } | null };

export type GroupChangesQueryVariables = Exact<{
  clusterName: string;
  groupName: string;
  first: number;
  after?: string | null | undefined;
}>;


export type GroupChangesQuery = { cluster: { id: string, replicaGroup: { changes: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, kind: GroupChangeKind, cause: string, changedAt: string, masterId: string | null, masterEpoch: number, syncStateSet: Array<string>, syncStateSetEpoch: number, replicaAddresses: Array<{ brokerId: string, address: string }> }> } } | null } | null };

export type GroupEpochsQueryVariables = Exact<{
  clusterName: string;
  groupName: string;
}>;


export type GroupEpochsQuery = { cluster: { id: string, replicaGroup: { epochs: { differingEpoch: number | null, replicas: Array<{ brokerId: string, address: string, maxOffset: string | null, error: string | null, epochs: Array<{ epoch: number, startOffset: string, endOffset: string | null }> | null }> } } | null } | null };

export type AdoptionCandidateFieldsFragment = { clusterName: string, groupName: string, brokerId: string, address: string, epoch: number | null, maxOffset: string | null, masterId: string | null, hasCode: boolean, heardAt: string };

export type AdoptionCandidatesQueryVariables = Exact<{
  first: number;
}>;


export type AdoptionCandidatesQuery = { adoptionCandidates: { totalCount: number, nodes: Array<{ clusterName: string, groupName: string, brokerId: string, address: string, epoch: number | null, maxOffset: string | null, masterId: string | null, hasCode: boolean, heardAt: string }> } };

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


export type TopologyQuery = { nameServers: Array<{ address: string, startedAt: string, routeVersion: string, topicCount: number, brokerCount: number, connectionCount: number }>, cluster: { id: string, name: string, routeVersion: string, brokerGroups: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, name: string, clusterName: string, mode: GroupMode, brokers: Array<{ id: string, brokerId: string, groupName: string, role: BrokerRole, state: BrokerState, address: string, haAddress: string | null, registeredAt: string, lastHeartbeatAt: string | null, latestSample: { clusterName: string, groupName: string, brokerId: string, observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null, bytesInPerSecond: number | null, bytesOutPerSecond: number | null, storeBytes: string, diskTotalBytes: string, diskFreeBytes: string, residentBytes: string, commitLogMaxPosition: string } | null }> }> } } | null };

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
export const AuditEntryFieldsFragmentDoc = new TypedDocumentString(`
    fragment AuditEntryFields on AuditEntry {
  number
  happenedAt
  actor
  source
  action
  clusterName
  subject
  operationId
  details
}
    `, {"fragmentName":"AuditEntryFields"}) as unknown as TypedDocumentString<AuditEntryFieldsFragment, unknown>;
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
export const OperationSummaryFragmentDoc = new TypedDocumentString(`
    fragment OperationSummary on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plannedAt
  requestedBy
  plan {
    summary
    risk
  }
  steps {
    position
    state
  }
}
    `, {"fragmentName":"OperationSummary"}) as unknown as TypedDocumentString<OperationSummaryFragment, unknown>;
export const StepFieldsFragmentDoc = new TypedDocumentString(`
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}
    `, {"fragmentName":"StepFields"}) as unknown as TypedDocumentString<StepFieldsFragment, unknown>;
export const OperationFieldsFragmentDoc = new TypedDocumentString(`
    fragment OperationFields on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plan {
    summary
    risk
    gate {
      needsName
      needsLossAccepted
      holdMs
    }
    preconditions {
      name
      value
    }
    changes {
      what
      before
      after
    }
    impact
    checks {
      name
      verdict
      why
      stockCode
    }
    wayBack
    loss
    facts
  }
  steps {
    ...StepFields
  }
  readBack {
    what
    intended
    observed
    agreement
  }
  outcome
  requestedBy
  reason
  confirmedBy
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
}
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}`, {"fragmentName":"OperationFields"}) as unknown as TypedDocumentString<OperationFieldsFragment, unknown>;
export const ReplicaFieldsFragmentDoc = new TypedDocumentString(`
    fragment ReplicaFields on Replica {
  brokerId
  address
  isMaster
  isInSync
  isAlive
  lastHeartbeatAt
  epoch
  maxOffset
  confirmOffset
  isVerified
}
    `, {"fragmentName":"ReplicaFields"}) as unknown as TypedDocumentString<ReplicaFieldsFragment, unknown>;
export const ReplicaGroupFieldsFragmentDoc = new TypedDocumentString(`
    fragment ReplicaGroupFields on ReplicaGroup {
  clusterName
  name
  leasePolicy
  leaseLeftMs
  masterId
  masterEpoch
  isMasterAlive
  syncStateSet
  syncStateSetEpoch
  replicas {
    ...ReplicaFields
  }
}
    fragment ReplicaFields on Replica {
  brokerId
  address
  isMaster
  isInSync
  isAlive
  lastHeartbeatAt
  epoch
  maxOffset
  confirmOffset
  isVerified
}`, {"fragmentName":"ReplicaGroupFields"}) as unknown as TypedDocumentString<ReplicaGroupFieldsFragment, unknown>;
export const ElectionFieldsFragmentDoc = new TypedDocumentString(`
    fragment ElectionFields on Election {
  winnerId
  isUnchanged
  awaitsLeaseMs
  candidates {
    brokerId
    verdict
    reason
  }
}
    `, {"fragmentName":"ElectionFields"}) as unknown as TypedDocumentString<ElectionFieldsFragment, unknown>;
export const GroupChangeFieldsFragmentDoc = new TypedDocumentString(`
    fragment GroupChangeFields on GroupChange {
  id
  kind
  cause
  changedAt
  masterId
  masterEpoch
  syncStateSet
  syncStateSetEpoch
  replicaAddresses {
    brokerId
    address
  }
}
    `, {"fragmentName":"GroupChangeFields"}) as unknown as TypedDocumentString<GroupChangeFieldsFragment, unknown>;
export const LogHistoryFieldsFragmentDoc = new TypedDocumentString(`
    fragment LogHistoryFields on LogHistory {
  brokerId
  address
  maxOffset
  error
  epochs {
    epoch
    startOffset
    endOffset
  }
}
    `, {"fragmentName":"LogHistoryFields"}) as unknown as TypedDocumentString<LogHistoryFieldsFragment, unknown>;
export const AdoptionCandidateFieldsFragmentDoc = new TypedDocumentString(`
    fragment AdoptionCandidateFields on AdoptionCandidate {
  clusterName
  groupName
  brokerId
  address
  epoch
  maxOffset
  masterId
  hasCode
  heardAt
}
    `, {"fragmentName":"AdoptionCandidateFields"}) as unknown as TypedDocumentString<AdoptionCandidateFieldsFragment, unknown>;
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
export const AuditEntriesDocument = new TypedDocumentString(`
    query AuditEntries($first: Int!, $after: String, $clusterName: String, $actor: String, $operationId: ID) {
  auditEntries(
    first: $first
    after: $after
    clusterName: $clusterName
    actor: $actor
    operationId: $operationId
  ) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...AuditEntryFields
    }
  }
}
    fragment AuditEntryFields on AuditEntry {
  number
  happenedAt
  actor
  source
  action
  clusterName
  subject
  operationId
  details
}`) as unknown as TypedDocumentString<AuditEntriesQuery, AuditEntriesQueryVariables>;
export const AuditVerificationDocument = new TypedDocumentString(`
    query AuditVerification($afterNumber: Int64, $afterHash: String) {
  auditVerification(afterNumber: $afterNumber, afterHash: $afterHash) {
    checkedCount
    isComplete
    endNumber
    endHash
    brokenNumber
    reason
  }
}
    `) as unknown as TypedDocumentString<AuditVerificationQuery, AuditVerificationQueryVariables>;
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
export const OperationsDocument = new TypedDocumentString(`
    query Operations($first: Int!, $after: String, $clusterName: String, $state: OperationState, $kind: String, $search: String) {
  operations(
    first: $first
    after: $after
    clusterName: $clusterName
    state: $state
    kind: $kind
    search: $search
  ) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...OperationSummary
    }
  }
}
    fragment OperationSummary on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plannedAt
  requestedBy
  plan {
    summary
    risk
  }
  steps {
    position
    state
  }
}`) as unknown as TypedDocumentString<OperationsQuery, OperationsQueryVariables>;
export const OperationKindsDocument = new TypedDocumentString(`
    query OperationKinds {
  operationKinds
}
    `) as unknown as TypedDocumentString<OperationKindsQuery, OperationKindsQueryVariables>;
export const OperationDocument = new TypedDocumentString(`
    query Operation($id: ID!) {
  operation(id: $id) {
    ...OperationFields
  }
}
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}
fragment OperationFields on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plan {
    summary
    risk
    gate {
      needsName
      needsLossAccepted
      holdMs
    }
    preconditions {
      name
      value
    }
    changes {
      what
      before
      after
    }
    impact
    checks {
      name
      verdict
      why
      stockCode
    }
    wayBack
    loss
    facts
  }
  steps {
    ...StepFields
  }
  readBack {
    what
    intended
    observed
    agreement
  }
  outcome
  requestedBy
  reason
  confirmedBy
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
}`) as unknown as TypedDocumentString<OperationQuery, OperationQueryVariables>;
export const OperationFactsDocument = new TypedDocumentString(`
    query OperationFacts($id: ID!) {
  operation(id: $id) {
    id
    movedFact {
      name
      expected
      found
    }
  }
}
    `) as unknown as TypedDocumentString<OperationFactsQuery, OperationFactsQueryVariables>;
export const PlanOperationDocument = new TypedDocumentString(`
    mutation PlanOperation($plan: PlanInput!, $key: String!) {
  operation: planOperation(plan: $plan, key: $key) {
    ...OperationFields
  }
}
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}
fragment OperationFields on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plan {
    summary
    risk
    gate {
      needsName
      needsLossAccepted
      holdMs
    }
    preconditions {
      name
      value
    }
    changes {
      what
      before
      after
    }
    impact
    checks {
      name
      verdict
      why
      stockCode
    }
    wayBack
    loss
    facts
  }
  steps {
    ...StepFields
  }
  readBack {
    what
    intended
    observed
    agreement
  }
  outcome
  requestedBy
  reason
  confirmedBy
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
}`) as unknown as TypedDocumentString<PlanOperationMutation, PlanOperationMutationVariables>;
export const ConfirmOperationDocument = new TypedDocumentString(`
    mutation ConfirmOperation($id: ID!, $given: ConfirmationInput!, $key: String!) {
  operation: confirmOperation(id: $id, given: $given, key: $key) {
    ...OperationFields
  }
}
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}
fragment OperationFields on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plan {
    summary
    risk
    gate {
      needsName
      needsLossAccepted
      holdMs
    }
    preconditions {
      name
      value
    }
    changes {
      what
      before
      after
    }
    impact
    checks {
      name
      verdict
      why
      stockCode
    }
    wayBack
    loss
    facts
  }
  steps {
    ...StepFields
  }
  readBack {
    what
    intended
    observed
    agreement
  }
  outcome
  requestedBy
  reason
  confirmedBy
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
}`) as unknown as TypedDocumentString<ConfirmOperationMutation, ConfirmOperationMutationVariables>;
export const PauseOperationDocument = new TypedDocumentString(`
    mutation PauseOperation($id: ID!, $key: String!) {
  operation: pauseOperation(id: $id, key: $key) {
    ...OperationFields
  }
}
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}
fragment OperationFields on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plan {
    summary
    risk
    gate {
      needsName
      needsLossAccepted
      holdMs
    }
    preconditions {
      name
      value
    }
    changes {
      what
      before
      after
    }
    impact
    checks {
      name
      verdict
      why
      stockCode
    }
    wayBack
    loss
    facts
  }
  steps {
    ...StepFields
  }
  readBack {
    what
    intended
    observed
    agreement
  }
  outcome
  requestedBy
  reason
  confirmedBy
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
}`) as unknown as TypedDocumentString<PauseOperationMutation, PauseOperationMutationVariables>;
export const ResumeOperationDocument = new TypedDocumentString(`
    mutation ResumeOperation($id: ID!, $key: String!) {
  operation: resumeOperation(id: $id, key: $key) {
    ...OperationFields
  }
}
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}
fragment OperationFields on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plan {
    summary
    risk
    gate {
      needsName
      needsLossAccepted
      holdMs
    }
    preconditions {
      name
      value
    }
    changes {
      what
      before
      after
    }
    impact
    checks {
      name
      verdict
      why
      stockCode
    }
    wayBack
    loss
    facts
  }
  steps {
    ...StepFields
  }
  readBack {
    what
    intended
    observed
    agreement
  }
  outcome
  requestedBy
  reason
  confirmedBy
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
}`) as unknown as TypedDocumentString<ResumeOperationMutation, ResumeOperationMutationVariables>;
export const CancelOperationDocument = new TypedDocumentString(`
    mutation CancelOperation($id: ID!, $key: String!) {
  operation: cancelOperation(id: $id, key: $key) {
    ...OperationFields
  }
}
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}
fragment OperationFields on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plan {
    summary
    risk
    gate {
      needsName
      needsLossAccepted
      holdMs
    }
    preconditions {
      name
      value
    }
    changes {
      what
      before
      after
    }
    impact
    checks {
      name
      verdict
      why
      stockCode
    }
    wayBack
    loss
    facts
  }
  steps {
    ...StepFields
  }
  readBack {
    what
    intended
    observed
    agreement
  }
  outcome
  requestedBy
  reason
  confirmedBy
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
}`) as unknown as TypedDocumentString<CancelOperationMutation, CancelOperationMutationVariables>;
export const RetryOperationDocument = new TypedDocumentString(`
    mutation RetryOperation($id: ID!, $key: String!) {
  operation: retryOperation(id: $id, key: $key) {
    ...OperationFields
  }
}
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}
fragment OperationFields on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plan {
    summary
    risk
    gate {
      needsName
      needsLossAccepted
      holdMs
    }
    preconditions {
      name
      value
    }
    changes {
      what
      before
      after
    }
    impact
    checks {
      name
      verdict
      why
      stockCode
    }
    wayBack
    loss
    facts
  }
  steps {
    ...StepFields
  }
  readBack {
    what
    intended
    observed
    agreement
  }
  outcome
  requestedBy
  reason
  confirmedBy
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
}`) as unknown as TypedDocumentString<RetryOperationMutation, RetryOperationMutationVariables>;
export const UndoOperationDocument = new TypedDocumentString(`
    mutation UndoOperation($id: ID!, $key: String!) {
  operation: undoOperation(id: $id, key: $key) {
    ...OperationFields
  }
}
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}
fragment OperationFields on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plan {
    summary
    risk
    gate {
      needsName
      needsLossAccepted
      holdMs
    }
    preconditions {
      name
      value
    }
    changes {
      what
      before
      after
    }
    impact
    checks {
      name
      verdict
      why
      stockCode
    }
    wayBack
    loss
    facts
  }
  steps {
    ...StepFields
  }
  readBack {
    what
    intended
    observed
    agreement
  }
  outcome
  requestedBy
  reason
  confirmedBy
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
}`) as unknown as TypedDocumentString<UndoOperationMutation, UndoOperationMutationVariables>;
export const ReplanOperationDocument = new TypedDocumentString(`
    mutation ReplanOperation($id: ID!, $key: String!) {
  operation: replanOperation(id: $id, key: $key) {
    ...OperationFields
  }
}
    fragment StepFields on OperationStep {
  position
  name
  title
  state
  attemptCount
  before
  after
  error
  beganAt
  endedAt
}
fragment OperationFields on Operation {
  id
  kind
  clusterName
  target
  state
  wish
  plan {
    summary
    risk
    gate {
      needsName
      needsLossAccepted
      holdMs
    }
    preconditions {
      name
      value
    }
    changes {
      what
      before
      after
    }
    impact
    checks {
      name
      verdict
      why
      stockCode
    }
    wayBack
    loss
    facts
  }
  steps {
    ...StepFields
  }
  readBack {
    what
    intended
    observed
    agreement
  }
  outcome
  requestedBy
  reason
  confirmedBy
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
}`) as unknown as TypedDocumentString<ReplanOperationMutation, ReplanOperationMutationVariables>;
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
export const ReplicaGroupsDocument = new TypedDocumentString(`
    query ReplicaGroups($clusterName: String!, $first: Int!, $after: String, $search: String) {
  cluster(name: $clusterName) {
    id
    replicaGroups(first: $first, after: $after, search: $search) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      nodes {
        ...ReplicaGroupFields
      }
    }
  }
}
    fragment ReplicaFields on Replica {
  brokerId
  address
  isMaster
  isInSync
  isAlive
  lastHeartbeatAt
  epoch
  maxOffset
  confirmOffset
  isVerified
}
fragment ReplicaGroupFields on ReplicaGroup {
  clusterName
  name
  leasePolicy
  leaseLeftMs
  masterId
  masterEpoch
  isMasterAlive
  syncStateSet
  syncStateSetEpoch
  replicas {
    ...ReplicaFields
  }
}`) as unknown as TypedDocumentString<ReplicaGroupsQuery, ReplicaGroupsQueryVariables>;
export const ReplicaGroupDocument = new TypedDocumentString(`
    query ReplicaGroup($clusterName: String!, $groupName: String!) {
  cluster(name: $clusterName) {
    id
    replicaGroup(name: $groupName) {
      ...ReplicaGroupFields
      election {
        ...ElectionFields
      }
    }
  }
}
    fragment ReplicaFields on Replica {
  brokerId
  address
  isMaster
  isInSync
  isAlive
  lastHeartbeatAt
  epoch
  maxOffset
  confirmOffset
  isVerified
}
fragment ReplicaGroupFields on ReplicaGroup {
  clusterName
  name
  leasePolicy
  leaseLeftMs
  masterId
  masterEpoch
  isMasterAlive
  syncStateSet
  syncStateSetEpoch
  replicas {
    ...ReplicaFields
  }
}
fragment ElectionFields on Election {
  winnerId
  isUnchanged
  awaitsLeaseMs
  candidates {
    brokerId
    verdict
    reason
  }
}`) as unknown as TypedDocumentString<ReplicaGroupQuery, ReplicaGroupQueryVariables>;
export const DesignatedElectionDocument = new TypedDocumentString(`
    query DesignatedElection($clusterName: String!, $groupName: String!, $brokerId: Int64!) {
  cluster(name: $clusterName) {
    id
    replicaGroup(name: $groupName) {
      election(brokerId: $brokerId) {
        ...ElectionFields
      }
    }
  }
}
    fragment ElectionFields on Election {
  winnerId
  isUnchanged
  awaitsLeaseMs
  candidates {
    brokerId
    verdict
    reason
  }
}`) as unknown as TypedDocumentString<DesignatedElectionQuery, DesignatedElectionQueryVariables>;
export const GroupChangesDocument = new TypedDocumentString(`
    query GroupChanges($clusterName: String!, $groupName: String!, $first: Int!, $after: String) {
  cluster(name: $clusterName) {
    id
    replicaGroup(name: $groupName) {
      changes(first: $first, after: $after) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        nodes {
          ...GroupChangeFields
        }
      }
    }
  }
}
    fragment GroupChangeFields on GroupChange {
  id
  kind
  cause
  changedAt
  masterId
  masterEpoch
  syncStateSet
  syncStateSetEpoch
  replicaAddresses {
    brokerId
    address
  }
}`) as unknown as TypedDocumentString<GroupChangesQuery, GroupChangesQueryVariables>;
export const GroupEpochsDocument = new TypedDocumentString(`
    query GroupEpochs($clusterName: String!, $groupName: String!) {
  cluster(name: $clusterName) {
    id
    replicaGroup(name: $groupName) {
      epochs {
        differingEpoch
        replicas {
          ...LogHistoryFields
        }
      }
    }
  }
}
    fragment LogHistoryFields on LogHistory {
  brokerId
  address
  maxOffset
  error
  epochs {
    epoch
    startOffset
    endOffset
  }
}`) as unknown as TypedDocumentString<GroupEpochsQuery, GroupEpochsQueryVariables>;
export const AdoptionCandidatesDocument = new TypedDocumentString(`
    query AdoptionCandidates($first: Int!) {
  adoptionCandidates(first: $first) {
    totalCount
    nodes {
      ...AdoptionCandidateFields
    }
  }
}
    fragment AdoptionCandidateFields on AdoptionCandidate {
  clusterName
  groupName
  brokerId
  address
  epoch
  maxOffset
  masterId
  hasCode
  heardAt
}`) as unknown as TypedDocumentString<AdoptionCandidatesQuery, AdoptionCandidatesQueryVariables>;
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
        mode
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