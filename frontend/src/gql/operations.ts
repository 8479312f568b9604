/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type AddBrokerInput = {
  /** Broker group that the file names. */
  brokerGroupName: string;
  /** Id of the broker in its file. 0 is a master, and every broker under a controller. */
  brokerId?: string;
  /** Name of the cluster. */
  clusterName: string;
  /** Path of the broker's file, on the machine of the container. */
  configPath: string;
  /** Address of the container, as host:port. */
  containerAddress: string;
};

export type AdoptReplicasInput = {
  /** Adopt the brokers even if acknowledged messages may be lost. */
  acceptsLoss?: boolean;
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of a broker to adopt. */
  brokerIds: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** Newest epoch in the logs of brokers that report no epoch. Default: as reported. */
  leastEpoch?: number | null | undefined;
  /** Id of the broker that becomes master. Default: the broker that the facts choose. */
  masterId?: string | null | undefined;
};

export type Agreement =
  | 'AGREES'
  | 'DIFFERS'
  | 'UNKNOWN';

export type ApiTokenInput = {
  /** Clusters where the role is valid: names, with `*` for any letters. `*` alone is all of them. */
  clusterPatterns?: Array<string>;
  /** Whether the token can only read. */
  isReadOnly?: boolean;
  /** Days until the token expires. */
  lifetimeDays: number;
  /** Name of the token. */
  name: string;
  /** Role of the token. The role of the user limits it. */
  role: Role;
};

export type BodyEncoding =
  | 'BASE64'
  | 'TEXT';

export type BodyForm =
  | 'AUTO'
  | 'HEX'
  | 'JSON'
  | 'TEXT';

export type BrokerGroupMemberPhase =
  | 'ACTING'
  | 'COMING_ONLINE'
  | 'ISOLATED'
  | 'SERVING'
  | 'SILENT'
  | 'STANDING_BY';

export type BrokerOrderInput = {
  /** Address of the broker, in place of its id. */
  address?: string | null | undefined;
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of the broker, as in its name. 0 is the master of the group. */
  brokerId?: string;
  /** Name of the cluster. */
  clusterName: string;
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
  /** Address of the broker, in place of its id. */
  address?: string | null | undefined;
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of the broker, as in its name. 0 is the master of the group. */
  brokerId?: string;
  /** Properties with their new values. */
  changes: Array<PropertyChangeInput>;
  /** Name of the cluster. */
  clusterName: string;
};

export type ChangeConsumerGroupInput = {
  /** Allow broadcasting: each consumer of the group reads all messages. */
  broadcastAllowed?: boolean | null | undefined;
  /** Name of a broker group. Default: all broker groups. */
  brokerGroups?: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** Allow consumers of the group to read. */
  consumeEnabled?: boolean | null | undefined;
  /** Read a new queue from its oldest message. */
  consumeFromMinEnabled?: boolean | null | undefined;
  /** Minutes after which the consumption of a message has failed. */
  consumeTimeoutMinutes?: number | null | undefined;
  /** Name of the consumer group. */
  consumerGroupName: string;
  /** Mark the group as a group that consumes in order. */
  isOrdered?: boolean | null | undefined;
  /** Notify members when other members join or leave. */
  notifiesMembers?: boolean | null | undefined;
  /** Maximum number of retries of a message. The value -1 is the broker's default. */
  retryCountMax?: number | null | undefined;
  /** Number of queues of the group's retry topic. */
  retryQueueCount?: number | null | undefined;
};

export type ChangeProtectionInput = {
  /** Name of the cluster. */
  clusterName: string;
  /** Protect the resource, or remove its protection. */
  isProtected?: boolean;
  /** Kind of the protected resource. */
  resourceKind: ProtectedKind;
  /** Name of the topic or consumer group; of a broker, `GROUP/ADDRESS`. */
  resourceName: string;
};

export type ChangeTopicInput = {
  /** Name of a broker group. Default: all broker groups. */
  brokerGroups?: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** Mark the topic as ordered. */
  isOrdered?: boolean | null | undefined;
  /** Allow consumers to read the topic. */
  isReadable?: boolean | null | undefined;
  /** In SHARED mode, let members with consumers take turns as owner, besides forwarding to it. */
  isTimeShared?: boolean | null | undefined;
  /** Allow producers to write to the topic. */
  isWritable?: boolean | null | undefined;
  /** Allowed type of messages, for brokers that check the type. With PRIORITY, POP delivers messages of a higher priority first. */
  messageType?: TopicMessageType | null | undefined;
  /** Number of queues that consumers read in each broker group. */
  readQueueCount?: number | null | undefined;
  /** Which brokers own the share queues of POP: the master (PRIMARY), or members by lease (SHARED). */
  shareMode?: ShareMode | null | undefined;
  /** Name of the topic. */
  topicName: string;
  /** Number of queues that producers write in each broker group. */
  writeQueueCount?: number | null | undefined;
};

export type CheckVerdict =
  | 'BLOCK'
  | 'PASS'
  | 'WARN';

export type ClientRole =
  | 'CONSUMER'
  | 'PRODUCER';

export type ConfirmationInput = {
  /** Whether the caller accepts the loss that the plan states. R3 needs it. */
  acceptsLoss?: boolean;
  /** Reason for the operation. R2 and R3 need it. */
  reason?: string | null | undefined;
  /** Name of the target, as the caller typed it. R2 and R3 need it. */
  typedName?: string | null | undefined;
};

export type ConsumeMode =
  | 'POP'
  | 'PULL';

export type ConsumerGroupState =
  | 'ACTIVE'
  | 'INACTIVE'
  | 'UNKNOWN';

export type ContainerFilter = {
  /** Only the container at this address. */
  address?: string | null | undefined;
  /** Only in this cluster. */
  clusterName?: string | null | undefined;
};

export type ConvertTopicInput = {
  /** Name of the cluster. */
  clusterName: string;
  /** How the offsets of a queue continue after a move: without a gap, or in blocks. */
  offsetMode?: QueueOffsetMode;
  /** Name of the topic. */
  topicName: string;
};

export type CreateConsumerGroupInput = {
  /** Allow broadcasting: each consumer of the group reads all messages. */
  broadcastAllowed?: boolean;
  /** Name of a broker group. Default: all broker groups. */
  brokerGroups?: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** Allow consumers of the group to read. */
  consumeEnabled?: boolean;
  /** Read a new queue from its oldest message. */
  consumeFromMinEnabled?: boolean;
  /** Minutes after which the consumption of a message has failed. */
  consumeTimeoutMinutes?: number;
  /** Name of the consumer group. */
  consumerGroupName: string;
  /** Mark the group as a group that consumes in order. */
  isOrdered?: boolean;
  /** Notify members when other members join or leave. */
  notifiesMembers?: boolean;
  /** Maximum number of retries of a message. The value -1 is the broker's default. */
  retryCountMax?: number;
  /** Number of queues of the group's retry topic. */
  retryQueueCount?: number;
};

export type CreateStaticTopicInput = {
  /** Name of a broker group. Default: all broker groups. */
  brokerGroups?: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** How the offsets of a queue continue after a move: without a gap, or in blocks. */
  offsetMode?: QueueOffsetMode;
  /** Number of logical queues of the topic. */
  queueCount: number;
  /** Name of the topic. */
  topicName: string;
};

export type CreateTopicInput = {
  /** Name of a broker group. Default: all broker groups. */
  brokerGroups?: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** Mark the topic as ordered. */
  isOrdered?: boolean;
  /** Allow consumers to read the topic. */
  isReadable?: boolean;
  /** Let replicas copy the messages. Without it the master alone stores them, which is faster and needs less disk and network: they are lost with that master. It can't be changed later. */
  isReplicated?: boolean;
  /** In SHARED mode, let members with consumers take turns as owner, besides forwarding to it. */
  isTimeShared?: boolean | null | undefined;
  /** Allow producers to write to the topic. */
  isWritable?: boolean;
  /** Allowed type of messages, for brokers that check the type. With PRIORITY, POP delivers messages of a higher priority first. */
  messageType?: TopicMessageType | null | undefined;
  /** Number of queues that consumers read in each broker group. */
  readQueueCount?: number;
  /** Which brokers own the share queues of POP: the master (PRIMARY), or members by lease (SHARED). */
  shareMode?: ShareMode | null | undefined;
  /** Name of the topic. */
  topicName: string;
  /** Number of queues that producers write in each broker group. */
  writeQueueCount?: number;
};

export type DeadLetterDestination =
  | 'RETRY'
  | 'TOPIC';

export type DeleteConsumerGroupInput = {
  /** Name of a broker group. Default: all broker groups. */
  brokerGroups?: Array<string>;
  /** Also delete the group's offsets, its retry topic and its dead-letter topic. */
  cleansUp?: boolean;
  /** Name of the cluster. */
  clusterName: string;
  /** Name of the consumer group. */
  consumerGroupName: string;
};

export type DeleteStaticTopicInput = {
  /** Name of the cluster. */
  clusterName: string;
  /** Delete the topic even if it holds messages: they are lost. */
  purge?: boolean;
  /** Name of the topic. */
  topicName: string;
};

export type DeleteTopicInput = {
  /** Name of a broker group. Default: all broker groups. */
  brokerGroups?: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** Delete the topic only if it holds no message. */
  onlyEmpty?: boolean;
  /** Name of the topic. */
  topicName: string;
};

export type DeliveryState =
  | 'CONSUMED'
  | 'DEAD_LETTER'
  | 'PENDING'
  | 'RETRYING'
  | 'UNKNOWN';

export type DrainBrokerInput = {
  /** Address of the broker, in place of its id. */
  address?: string | null | undefined;
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of the broker, as in its name. 0 is the master of the group. */
  brokerId?: string;
  /** Name of the cluster. */
  clusterName: string;
  /** First move the logical queues of static topics from the broker group to other broker groups. */
  moveQueues?: boolean;
  /** Name of a consumer group that the drain does not wait for. */
  waivedGroups?: Array<string>;
};

export type ElectMasterInput = {
  /** Allow the election of a replica that lacks confirmed messages. */
  acceptsLoss?: boolean;
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of the broker that becomes master. Default: the broker that the rules choose. */
  brokerId?: string | null | undefined;
  /** Name of the cluster. */
  clusterName: string;
  /** Whether the current master is asked to hand over first. */
  mode?: ElectionMode;
};

export type ElectionMode =
  | 'GRACEFUL'
  | 'NOW';

export type ElectionVerdict =
  | 'ASKED_LATER'
  | 'CORDONED'
  | 'HIGHER_ID'
  | 'LACKS_CONFIRMED'
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

export type EvacuateBrokerGroupInput = {
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Name of the cluster. */
  clusterName: string;
  /** How many queues move at the same time. */
  inFlightMax?: number;
};

export type ExpandStaticTopicInput = {
  /** Name of a broker group that also gets new queues. Default: only those that lead a queue of the topic. */
  brokerGroups?: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** Number of logical queues of the topic. */
  queueCount: number;
  /** Name of the topic. */
  topicName: string;
};

export type FindingCode =
  | 'CLIENT_ID_SHARED'
  | 'CONFIRMED_MISSING'
  | 'EPOCH_BACKWARDS'
  | 'GROUP_WITHOUT_WRITER'
  | 'MESSAGES_LOST'
  | 'REGISTRATION_ITEM_INVALID'
  | 'REPLICA_ACTS_LONG'
  | 'REPLICA_AHEAD'
  | 'REPLICA_DOWN'
  | 'REPLICA_KEEPS_CONFIRMED'
  | 'REPLICA_LOST_CONFIRMED'
  | 'REPLICA_OUTSIDE_SET'
  | 'ROUTE_WITHOUT_BROKER'
  | 'SET_WITHOUT_MASTER'
  | 'SHARE_QUEUE_INCIDENT'
  | 'STATIC_TOPIC_DIFFERS'
  | 'SUBSCRIPTIONS_DIFFER'
  | 'TWO_MASTERS';

export type ForgetBrokerInput = {
  /** Address of the broker, in place of its id. */
  address?: string | null | undefined;
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of the broker, as in its name. 0 is the master of the group. */
  brokerId?: string;
  /** Name of the cluster. */
  clusterName: string;
  /** Forget the last broker of a group even if logical queues have older messages there. */
  losesSegments?: boolean;
};

export type ForgetReplicasInput = {
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of a replica to forget. Default: the whole group. */
  brokerIds?: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** Forget the whole group even if some of its replicas are alive. */
  includesLiving?: boolean;
};

export type GroupChangeKind =
  | 'ADDRESS_CHANGED'
  | 'BROKER_ID_APPLIED'
  | 'GROUP_REMOVED'
  | 'MASTER_ELECTED'
  | 'MASTER_LOST'
  | 'PREFERENCE_CHANGED'
  | 'PROTOCOL_VERSION_CHANGED'
  | 'REPLICAS_ADOPTED'
  | 'REPLICAS_REMOVED'
  | 'SYNC_STATE_SET_ALTERED';

export type GroupMode =
  | 'ACTING_MASTER'
  | 'CONTROLLER'
  | 'STATIC';

export type HandOverShareQueuesInput = {
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Name of the cluster. */
  clusterName: string;
  /** Name of the consumer group. Default: all. */
  consumerGroupName?: string | null | undefined;
  /** Id of the broker whose share queues are meant. Default: those of all brokers. */
  ownerId?: string | null | undefined;
  /** Number of the queue. Default: all. */
  queueId?: number | null | undefined;
  /** Id of the broker that gets them. Default: the master, or another member in sync. */
  successorId?: string | null | undefined;
  /** Name of the topic. Default: all. */
  topicName?: string | null | undefined;
};

export type HealthVerdict =
  | 'CRITICAL'
  | 'DEGRADED'
  | 'HEALTHY'
  | 'UNKNOWN';

export type ImportStaticTopicInput = {
  /** Name of the cluster. */
  clusterName: string;
  /** Text of the mapping file. Default: the mapping that the brokers have. */
  document?: string | null | undefined;
  /** Accept a file with an older epoch: the change gets a new epoch. */
  force?: boolean;
  /** Name of the topic. */
  topicName: string;
};

export type IncidentKind =
  | 'CANNOT_APPLY'
  | 'CANNOT_STORE'
  | 'LEASE_FENCED'
  | 'LEASE_LAPSED'
  | 'MESSAGES_LOST'
  | 'OWNER_LOST'
  | 'RECORD_LEFT_OUT';

export type IncidentOutcome =
  | 'LEFT_OUT_BY_ALL'
  | 'NOBODY_HAS_IT'
  | 'OTHERS_HAVE_IT'
  | 'UNKNOWN';

export type IncidentResolution =
  | 'LEASE_ENDED'
  | 'MEMBER_REMOVED'
  | 'RECOVERED'
  | 'SNAPSHOT'
  | 'TOPIC_EMPTIED';

export type LagQueueKind =
  | 'NORMAL'
  | 'RETRY';

export type LeasePolicy =
  | 'QUORUM'
  | 'STRICT';

export type LockFilter = {
  /** Only in this broker group. */
  brokerGroupName?: string | null | undefined;
  /** Only of this client. */
  clientId?: string | null | undefined;
  /** Only in this cluster. */
  clusterName?: string | null | undefined;
  /** Only of this consumer group. */
  consumerGroupName?: string | null | undefined;
  /** Only of clients that are connected, or of clients that are gone. */
  holder?: LockHolder | null | undefined;
  /** Only in the queue with this number. */
  queueId?: number | null | undefined;
  /** Only of this topic. */
  topic?: string | null | undefined;
};

export type LockHolder =
  | 'CONNECTED'
  | 'GONE';

export type LowerProtocolVersionInput = {
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Name of the cluster. */
  clusterName: string;
  /** Protocol version of the group afterwards. */
  version: number;
};

export type MessagePropertyInput = {
  /** Name of the property. */
  name: string;
  /** Value of the property. */
  value: string;
};

export type MessageRange = {
  /** Only messages stored then or later. */
  begin?: string | null | undefined;
  /** Only in this broker group. */
  brokerGroupName?: string | null | undefined;
  /** Only messages stored before. */
  end?: string | null | undefined;
  /** Start at the ends of the queues, to follow later messages. */
  fromLatest?: boolean;
  /** Start at this offset. Needs a broker group and a queue. */
  offset?: string | null | undefined;
  /** Only in the queue with this number. */
  queueId?: number | null | undefined;
};

export type MoveQueuesInput = {
  /** Name of the cluster. */
  clusterName: string;
  /** Name of the broker group that the queues move to. */
  destination?: string | null | undefined;
  /** Move queues whose broker group can't be asked. Offsets continue after a jump, and messages may be lost. */
  force?: boolean;
  /** Logical offset where forced queues continue. Default: after the last known offset. */
  forceOffset?: string | null | undefined;
  /** How many queues move at the same time. */
  inFlightMax?: number;
  /** Name of a broker group whose queues all move to the other broker groups. */
  leaving?: string | null | undefined;
  /** Name of a broker group that gets its even share of the queues. */
  onto?: string | null | undefined;
  /** Number of a logical queue to move to the destination. Default: all that other broker groups lead. */
  queues?: Array<number>;
  /** Name of a broker group among those that share all queues evenly. */
  targets?: Array<string>;
  /** Name of the topic. */
  topicName: string;
};

export type MoveStep =
  | 'ACTIVE'
  | 'DECIDED'
  | 'PLANNED'
  | 'PREPARED'
  | 'SEALED';

export type OffsetPosition =
  | 'EARLIEST'
  | 'GIVEN'
  | 'GROUP'
  | 'LATEST'
  | 'OFFSET'
  | 'TIME';

export type OffsetResetMode =
  | 'AUTO'
  | 'OFFLINE'
  | 'ONLINE';

export type OperationAction =
  | 'APPROVE'
  | 'CANCEL'
  | 'CONFIRM'
  | 'DECLINE'
  | 'PAUSE'
  | 'REPLAN'
  | 'RESUME'
  | 'RETRY'
  | 'UNDO';

export type OperationState =
  | 'AWAITING_APPROVAL'
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

export type PauseCause =
  | 'BEING_READ'
  | 'BROKER_SILENT'
  | 'GATE_CLOSED'
  | 'GROUP_DISABLED'
  | 'HOLDER_GONE'
  | 'NOTHING_TO_DO'
  | 'NOT_LOCKED'
  | 'NOT_PULLING'
  | 'NOT_READABLE'
  | 'NOT_SUBSCRIBED'
  | 'NO_MASTER'
  | 'NO_MEMBER'
  | 'SUSPENDED'
  | 'UNKNOWN';

export type PlanInput =
  {   /** Have a container run the broker of a file, now and after each start. */
  addBroker: AddBrokerInput; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never;   /**
   * Adopt brokers under the ids they claim; without a choice of the master, facts decide.
   *
   * `least_epoch` stands for epochs that no broker reports.
   */
  adoptReplicas: AdoptReplicasInput; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never;   /** Set properties of one broker: by its address if one is given, else by its own id. */
  changeBrokerConfig: ChangeBrokerConfigInput; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never;   /**
   * Change what is given of a consumer group, on the broker groups named or all that know it.
   *
   * Instead, `settings` may give each broker group's whole settings; that takes a change back.
   */
  changeConsumerGroup: ChangeConsumerGroupInput; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never;   /** Protect what is named from deletion, or lift that; a broker's name is `GROUP/ADDRESS`. */
  changeProtection: ChangeProtectionInput; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never;   /**
   * Change what is given of a topic, on the broker groups named or on all that hold it.
   *
   * Instead, `layouts` may give each group's whole layout; that takes a change back.
   */
  changeTopic: ChangeTopicInput; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never;   /** Commit a pending transaction: consumers get its message. */
  commitTransaction: TransactionOrderInput; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never;   /** Make an ordinary topic static; its queues stay where they are, and become logical queues. */
  convertTopic: ConvertTopicInput; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never;   /** Take the right to write from a broker. */
  cordonBroker: BrokerOrderInput; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never;   /**
   * Create a consumer group on the broker groups named, or on all of the cluster.
   *
   * Instead, `settings` may give each broker group's whole settings; that takes a deletion back.
   */
  createConsumerGroup: CreateConsumerGroupInput; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never;   /** Create a static topic, with its logical queues spread evenly over broker groups. */
  createStaticTopic: CreateStaticTopicInput; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never;   /** Create a topic on the broker groups named, or on all of the cluster. */
  createTopic: CreateTopicInput; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never;   /** Delete a consumer group on the broker groups named, or on all that know it. */
  deleteConsumerGroup: DeleteConsumerGroupInput; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never;   /** Delete a static topic on all broker groups of the cluster. */
  deleteStaticTopic: DeleteStaticTopicInput; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never;   /** Delete a topic on the broker groups named, or on all that hold it. */
  deleteTopic: DeleteTopicInput; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never;   /** Drain a broker; consumer groups that are waived are not waited for. */
  drainBroker: DrainBrokerInput; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never;   /**
   * Elect the named broker as master or, without a name, the broker that the rules choose.
   *
   * With `accepts_loss`, it may lack acknowledged messages: the plan states the loss.
   */
  electMaster: ElectMasterInput; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never;   /**
   * Move the logical queues of all static topics off a broker group.
   *
   * The other broker groups of the cluster take them, except cordoned ones.
   */
  evacuateBrokerGroup: EvacuateBrokerGroupInput; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never;   /** Give a static topic more logical queues; the existing ones stay where they are. */
  expandStaticTopic: ExpandStaticTopicInput; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never;   /** Forget a broker that is not registered. */
  forgetBroker: ForgetBrokerInput; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never;   /** Forget dead replicas by id; without ids the whole group, with its living ones if wanted. */
  forgetReplicas: ForgetReplicasInput; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never;   /**
   * Hand share queues in SHARED mode over to a member of their broker group.
   *
   * What is given chooses the share queues. Instead, `queues` may name each of them; that takes a
   * hand-over back.
   */
  handOverShareQueues: HandOverShareQueuesInput; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never;   /**
   * Restore a static topic from a mapping file of RocketMQ's form, or from its brokers.
   *
   * A file may also have moves and new queues of a topic that is there. The change goes on at the
   * first step that no broker confirms.
   */
  importStaticTopic: ImportStaticTopicInput; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never;   /**
   * Lower the protocol version of a broker group, so that brokers of an older release can join.
   *
   * Its share queues are written again in records of that version.
   */
  lowerProtocolVersion: LowerProtocolVersionInput; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never;   /**
   * Move logical queues of a static topic to other broker groups.
   *
   * One of `destination`, `leaving`, `onto` and `targets` chooses the moves.
   */
  moveQueues: MoveQueuesInput; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never;   /** Prefer a replica as master at the next election; without an id, remove the preference. */
  preferMaster: PreferMasterInput; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never;   /** Recall a message that waits for a time: no consumer gets it. */
  recallMessage: RecallMessageInput; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never;   /** Release what a client holds: all of it, or only what the other facts name. */
  releaseLocks: ReleaseLocksInput; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never;   /** Deliver messages of a share queue again whose client is gone, or those of a named client. */
  releaseSharedMessages: ReleaseSharedMessagesInput; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never;   /**
   * Have a container stop a broker, and run it no more; its store and its file stay.
   *
   * The file names a broker that has not joined its group yet: the id of such a broker is unknown.
   */
  removeBroker: RemoveBrokerInput; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never;   /** Send copies of a consumer group's dead letters: of those chosen, or of all, oldest first. */
  resendDeadLetters: ResendDeadLettersInput; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never;   /**
   * Set a consumer group's offsets in a topic, in all queues or in those named.
   *
   * In a queue where the source group never committed an offset, nothing is set.
   */
  resetOffsets: ResetOffsetsInput; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never;   /**
   * Let a consumer group go on from an offset in a share queue.
   *
   * What its consumers have of the queue is void: they skip it, or receive it again.
   */
  resetShareQueue: ResetShareQueueInput; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never;   /** Roll back a pending transaction: no consumer gets its message. */
  rollBackTransaction: TransactionOrderInput; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never;   /**
   * Set how a consumer group receives a topic: queue by queue (PULL), or from share queues (POP).
   *
   * Instead, `modes` may give the mode of each broker group; that takes a change back.
   */
  setConsumeMode: SetConsumeModeInput; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never;   /** Take the last logical queues from a static topic, once they are read. */
  shrinkStaticTopic: ShrinkStaticTopicInput; switchGroupMode?: never; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never;   /** Switch a broker group to another mode; each of its brokers starts again. */
  switchGroupMode: SwitchGroupModeInput; uncordonBroker?: never; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never;   /** Give a broker the right to write. */
  uncordonBroker: UncordonBrokerInput; upgradeBrokerGroup?: never; }
  |  { addBroker?: never; adoptReplicas?: never; changeBrokerConfig?: never; changeConsumerGroup?: never; changeProtection?: never; changeTopic?: never; commitTransaction?: never; convertTopic?: never; cordonBroker?: never; createConsumerGroup?: never; createStaticTopic?: never; createTopic?: never; deleteConsumerGroup?: never; deleteStaticTopic?: never; deleteTopic?: never; drainBroker?: never; electMaster?: never; evacuateBrokerGroup?: never; expandStaticTopic?: never; forgetBroker?: never; forgetReplicas?: never; handOverShareQueues?: never; importStaticTopic?: never; lowerProtocolVersion?: never; moveQueues?: never; preferMaster?: never; recallMessage?: never; releaseLocks?: never; releaseSharedMessages?: never; removeBroker?: never; resendDeadLetters?: never; resetOffsets?: never; resetShareQueue?: never; rollBackTransaction?: never; setConsumeMode?: never; shrinkStaticTopic?: never; switchGroupMode?: never; uncordonBroker?: never;   /**
   * Upgrade the brokers of a broker group one by one, the master last.
   *
   * Someone, or a script, restarts each broker with the new release when the operation says so.
   */
  upgradeBrokerGroup: UpgradeBrokerGroupInput; };

export type PreferMasterInput = {
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of the replica to prefer. Default: none. */
  brokerId?: string | null | undefined;
  /** Name of the cluster. */
  clusterName: string;
};

export type PropertyChangeInput = {
  /** Name of the property. */
  name: string;
  /** New value of the property. An empty value sets the default. */
  value: string;
};

export type PropertyEffect =
  | 'FIXED'
  | 'LIVE'
  | 'RESTART'
  | 'UNKNOWN';

export type PropertyType =
  | 'BOOLEAN'
  | 'BYTES'
  | 'CHOICE'
  | 'INTEGER'
  | 'TEXT';

export type ProtectedKind =
  | 'BROKER'
  | 'CONSUMER_GROUP'
  | 'TOPIC';

export type QueueOffsetInput = {
  /** Name of the broker group. */
  brokerGroupName: string;
  /** New offset of the queue. */
  offset: string;
  /** Number of the queue. */
  queueId: number;
};

export type QueueOffsetMode =
  | 'BLOCK'
  | 'CONTIGUOUS';

export type RecallMessageInput = {
  /** Name of the cluster. */
  clusterName: string;
  /** Handle of the message, as its producer got it with the send result. */
  recallHandle: string;
};

export type ReleaseLocksInput = {
  /** Only locks on this broker group. */
  brokerGroupName?: string | null | undefined;
  /** Id of the client that holds the locks. */
  clientId: string;
  /** Name of the cluster. */
  clusterName: string;
  /** Only locks of this consumer group. */
  consumerGroupName?: string | null | undefined;
  /** Only locks of the queue with this number. */
  queueId?: number | null | undefined;
  /** Only locks of queues of this topic. */
  topic?: string | null | undefined;
};

export type ReleaseSharedMessagesInput = {
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of the client that has the messages. Default: all clients that are gone. */
  clientId?: string | null | undefined;
  /** Name of the cluster. */
  clusterName: string;
  /** Name of the consumer group. */
  consumerGroupName: string;
  /** Number of the queue in its broker group. */
  queueId: number;
  /** Name of the topic, or of a retry topic. */
  topicName: string;
};

export type RemoveBrokerInput = {
  /** Address of the broker, in place of its id. */
  address?: string | null | undefined;
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of the broker, as in its name. 0 is the master of the group. */
  brokerId?: string;
  /** Name of the cluster. */
  clusterName: string;
  /** Path of the broker's file, as its container lists it, in place of the broker's id. */
  configPath?: string | null | undefined;
  /** Address of the container, as host:port. Default: the container that the broker reports. */
  containerAddress?: string | null | undefined;
  /** Remove the broker even if it leads its group, acts as its master, or is its last replica in sync. */
  interruptsGroup?: boolean;
};

export type ResendDeadLettersInput = {
  /** Name of the cluster. */
  clusterName: string;
  /** Name of the consumer group. */
  consumerGroupName: string;
  /** Maximum number of dead letters. */
  countMax?: number;
  /** retry sends to the group's retry topic, which this group alone reads; topic sends to the original topic, which all its groups read. */
  destination?: DeadLetterDestination;
  /** Also send dead letters that were resent before. */
  includesResent?: boolean;
  /** Id of a dead letter. Default: all dead letters of the group, the oldest first. */
  messageIds?: Array<string>;
  /** Maximum number of messages per second. */
  messagesPerSecond?: number;
};

export type ResetOffsetsInput = {
  /** Name of a broker group. Default: all broker groups. */
  brokerGroups?: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** Name of the consumer group. */
  consumerGroupName: string;
  /** online notifies connected consumers; offline sets the offsets of a group without consumers; auto chooses between them. */
  mode?: OffsetResetMode;
  /** New offset, with the position `offset`. */
  offset?: string | null | undefined;
  /** New offset of each queue, with the position `given`. */
  offsets?: Array<QueueOffsetInput>;
  /** New position of the consumer group. */
  position: OffsetPosition;
  /** Number of a queue. Default: all queues. */
  queueIds?: Array<number>;
  /** Consumer group to copy offsets from, with the position `group`. */
  sourceGroup?: string | null | undefined;
  /** Time of the new position, with the position `time`. */
  timestampMs?: string | null | undefined;
  /** Name of the topic. */
  topicName: string;
};

export type ResetShareQueueInput = {
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Name of the cluster. */
  clusterName: string;
  /** Name of the consumer group. */
  consumerGroupName: string;
  /** Offset of the next message of the group. */
  offset: string;
  /** Number of the queue in its broker group. */
  queueId: number;
  /** Name of the topic, or of a retry topic. */
  topicName: string;
};

export type Risk =
  | 'LOSS'
  | 'SERVICE'
  | 'SMALL';

export type Role =
  | 'ADMIN'
  | 'OPERATOR'
  | 'VIEWER';

export type SegmentStatus =
  | 'EXPIRED'
  | 'NORMAL'
  | 'READ_ONLY'
  | 'UNDECIDED';

export type SendMessageInput = {
  /** Body of the message. */
  body: string;
  /** How the body is given: as text, which is sent in UTF-8, or in base64. */
  bodyEncoding?: BodyEncoding;
  /** Broker group that stores the message. Default: one of those that take messages. */
  brokerGroupName?: string | null | undefined;
  /** Name of the cluster. */
  clusterName: string;
  /** Delay level of the broker (`messageDelayLevel`). Level 1 is the shortest delay. */
  delayLevel?: number | null | undefined;
  /** Key by which the message can be found. */
  keys?: Array<string>;
  /** Properties of the message. */
  properties?: Array<MessagePropertyInput>;
  /** Number of the queue that stores the message. Default: one of the topic's queues. */
  queueId?: number | null | undefined;
  /** Tag by which consumers filter. */
  tag?: string | null | undefined;
  /** Name of the topic. */
  topicName: string;
};

export type SendState =
  | 'STORED'
  | 'UNCONFIRMED';

export type SetConsumeModeInput = {
  /** Name of a broker group. Default: all broker groups. */
  brokerGroups?: Array<string>;
  /** Name of the cluster. */
  clusterName: string;
  /** Name of the consumer group. */
  consumerGroupName: string;
  /** PULL or POP. */
  mode?: ConsumeMode | null | undefined;
  /** Number of other clients whose queues each client also receives from by POP. 0 means all. */
  sharedClientCount?: number;
  /** Name of the topic. */
  topicName: string;
};

export type Severity =
  | 'CRITICAL'
  | 'WARNING';

export type ShareIncidentFilter = {
  /** Only in this broker group. */
  brokerGroupName?: string | null | undefined;
  /** Only in this cluster. */
  clusterName?: string | null | undefined;
  /** Only of this consumer group. */
  consumerGroupName?: string | null | undefined;
  /** Only open incidents, or only those that are over. */
  isOpen?: boolean | null | undefined;
  /** Only in the queue with this number. */
  queueId?: number | null | undefined;
  /** Only of this topic. */
  topic?: string | null | undefined;
};

export type ShareMode =
  | 'PRIMARY'
  | 'SHARED';

export type ShareQueueFilter = {
  /** Only in this broker group. */
  brokerGroupName?: string | null | undefined;
  /** Only in this cluster. */
  clusterName?: string | null | undefined;
  /** Only of this consumer group. */
  consumerGroupName?: string | null | undefined;
  /** Only in the queue with this number. */
  queueId?: number | null | undefined;
  /** Only of this topic. */
  topic?: string | null | undefined;
};

export type ShrinkStaticTopicInput = {
  /** Name of the cluster. */
  clusterName: string;
  /** Seal the queues although producers are connected: their sends to these queues fail. */
  force?: boolean;
  /** Number of logical queues of the topic. */
  queueCount: number;
  /** Name of the topic. */
  topicName: string;
  /** Name of a consumer group that the removal does not wait for. */
  waivedGroups?: Array<string>;
};

export type StepState =
  | 'DONE'
  | 'FAILED'
  | 'PENDING'
  | 'RUNNING'
  | 'UNKNOWN'
  | 'WAITING';

export type SwitchGroupModeInput = {
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Name of the cluster. */
  clusterName: string;
  /** Mode that the broker group takes. */
  mode: WantedGroupMode;
};

export type TimerFilter = {
  /** Only in this broker group. */
  brokerGroupName?: string | null | undefined;
  /** Only in this cluster. */
  clusterName?: string | null | undefined;
  /** Only brokers with waiting messages of this topic. */
  topic?: string | null | undefined;
};

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
  | 'PRIORITY'
  | 'TRANSACTION'
  | 'UNSPECIFIED';

export type TransactionFilter = {
  /** Only in this broker group. */
  brokerGroupName?: string | null | undefined;
  /** Only in this cluster. */
  clusterName?: string | null | undefined;
  /** Only of this producer group. */
  producerGroupName?: string | null | undefined;
  /** Only of this topic. */
  topic?: string | null | undefined;
  /** Only the transaction with this id. */
  transactionId?: string | null | undefined;
};

export type TransactionOrderInput = {
  /** Broker group that has the transaction. Default: the only one that has it. */
  brokerGroupName?: string | null | undefined;
  /** Name of the cluster. */
  clusterName: string;
  /** Id that the producer gave to the transaction. */
  transactionId: string;
};

export type UncordonBrokerInput = {
  /** Address of the broker, in place of its id. */
  address?: string | null | undefined;
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Id of the broker, as in its name. 0 is the master of the group. */
  brokerId?: string;
  /** Name of the cluster. */
  clusterName: string;
};

export type UpgradeBrokerGroupInput = {
  /** Name of the broker group. */
  brokerGroupName: string;
  /** Name of the cluster. */
  clusterName: string;
  /** Protocol version that each broker has afterwards. Default: the newest version that the control plane knows. */
  version?: number | null | undefined;
};

export type WantedGroupMode =
  | 'ACTING_MASTER'
  | 'CONTROLLER';

export type WriterFault =
  | 'CORDONED'
  | 'DISK_FULL'
  | 'MASTER_DOWN'
  | 'MASTER_LOST'
  | 'NO_MASTER'
  | 'READ_ONLY';

export type UserFieldsFragment = { name: string, role: Role, clusterPatterns: Array<string>, createdAt: string, disabledAt: string | null, passwordExpiresAt: string | null, version: string };

export type TokenFieldsFragment = { id: string, userName: string, name: string, prefix: string, role: Role, isReadOnly: boolean, clusterPatterns: Array<string>, createdAt: string, expiresAt: string, lastUsedAt: string | null, lastUsedFrom: string | null };

export type UsersQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
}>;


export type UsersQuery = { users: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ name: string, role: Role, clusterPatterns: Array<string>, createdAt: string, disabledAt: string | null, passwordExpiresAt: string | null, version: string }> } };

export type OpenSessionsQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
  userName?: string | null | undefined;
}>;


export type OpenSessionsQuery = { sessions: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, userName: string, source: string, userAgent: string, createdAt: string, lastUsedAt: string, expiresAt: string, isOwn: boolean }> } };

export type ApiTokensQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
  userName?: string | null | undefined;
}>;


export type ApiTokensQuery = { apiTokens: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, userName: string, name: string, prefix: string, role: Role, isReadOnly: boolean, clusterPatterns: Array<string>, createdAt: string, expiresAt: string, lastUsedAt: string | null, lastUsedFrom: string | null }> } };

export type AddUserMutationVariables = Exact<{
  name: string;
  role: Role;
  clusterPatterns?: Array<string> | string | null | undefined;
}>;


export type AddUserMutation = { invited: { password: string, user: { name: string, role: Role, clusterPatterns: Array<string>, createdAt: string, disabledAt: string | null, passwordExpiresAt: string | null, version: string } } };

export type ResetPasswordMutationVariables = Exact<{
  name: string;
}>;


export type ResetPasswordMutation = { invited: { password: string, user: { name: string, role: Role, clusterPatterns: Array<string>, createdAt: string, disabledAt: string | null, passwordExpiresAt: string | null, version: string } } };

export type ChangeUserRoleMutationVariables = Exact<{
  name: string;
  role: Role;
  reason?: string | null | undefined;
  clusterPatterns?: Array<string> | string | null | undefined;
  version?: string | null | undefined;
}>;


export type ChangeUserRoleMutation = { user: { name: string, role: Role, clusterPatterns: Array<string>, createdAt: string, disabledAt: string | null, passwordExpiresAt: string | null, version: string } };

export type DisableUserMutationVariables = Exact<{
  name: string;
  reason?: string | null | undefined;
}>;


export type DisableUserMutation = { user: { name: string, role: Role, clusterPatterns: Array<string>, createdAt: string, disabledAt: string | null, passwordExpiresAt: string | null, version: string } };

export type EnableUserMutationVariables = Exact<{
  name: string;
  reason?: string | null | undefined;
}>;


export type EnableUserMutation = { user: { name: string, role: Role, clusterPatterns: Array<string>, createdAt: string, disabledAt: string | null, passwordExpiresAt: string | null, version: string } };

export type EndSessionMutationVariables = Exact<{
  id: string | number;
}>;


export type EndSessionMutation = { endSession: boolean };

export type EndSessionsMutationVariables = Exact<{
  userName?: string | null | undefined;
}>;


export type EndSessionsMutation = { endSessions: number };

export type CreateApiTokenMutationVariables = Exact<{
  wanted: ApiTokenInput;
}>;


export type CreateApiTokenMutation = { created: { secret: string, token: { id: string, userName: string, name: string, prefix: string, role: Role, isReadOnly: boolean, clusterPatterns: Array<string>, createdAt: string, expiresAt: string, lastUsedAt: string | null, lastUsedFrom: string | null } } };

export type RevokeApiTokenMutationVariables = Exact<{
  id: string | number;
}>;


export type RevokeApiTokenMutation = { revokeApiToken: boolean };

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

export type BrokerPageQueryVariables = Exact<{
  clusterName: string;
  brokerName: string;
}>;


export type BrokerPageQuery = { broker: { id: string, name: string, ownId: string, brokerId: string, brokerGroupName: string, role: BrokerRole, state: BrokerState, address: string, haAddress: string | null, registeredAt: string, isRegistered: boolean, lastHeartbeatAt: string | null, protection: { protectedBy: string, protectedAt: string, reason: string | null } | null, replica: { brokerId: string, epoch: number | null, isInSync: boolean, isAlive: boolean } | null, latestSample: { clusterName: string, brokerGroupName: string, brokerName: string, brokerId: string, observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null, bytesInPerSecond: number | null, bytesOutPerSecond: number | null, storeBytes: string, diskTotalBytes: string, diskFreeBytes: string, residentBytes: string, commitLogMaxPosition: string } | null } | null };

export type BrokerConfigQueryVariables = Exact<{
  clusterName: string;
  brokerGroupName: string;
  brokerId: string;
}>;


export type BrokerConfigQuery = { brokerConfig: { address: string, properties: Array<{ name: string, type: PropertyType, effect: PropertyEffect, value: string, stored: string | null, default: string | null, low: string | null, high: string | null, choices: Array<string> }> } };

export type CapacityReportSummaryFragment = { id: string, status: string, requestedAt: string, startedAt: string | null, finishedAt: string | null, requestedBy: string, error: string | null, coverageFrom: string | null, coverageTo: string | null, sampleCount: string | null };

export type CapacityRowFieldsFragment = { kind: CapacityRowKind, clusterName: string, brokerName: string, topicName: string | null, day: string | null, bytes: string | null, diskTotalBytes: string | null, diskFreeBytes: string | null, bytesPerDay: number | null, daysUntilFull: number | null, note: string | null };

export type CapacityReportsQueryVariables = Exact<{
  first: number;
  after?: string | null | undefined;
}>;


export type CapacityReportsQuery = { capacityReports: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, status: string, requestedAt: string, startedAt: string | null, finishedAt: string | null, requestedBy: string, error: string | null, coverageFrom: string | null, coverageTo: string | null, sampleCount: string | null }> } };

export type CapacityReportQueryVariables = Exact<{
  id: string | number;
}>;


export type CapacityReportQuery = { capacityReport: { id: string, status: string, requestedAt: string, startedAt: string | null, finishedAt: string | null, requestedBy: string, error: string | null, coverageFrom: string | null, coverageTo: string | null, sampleCount: string | null, disks: Array<{ kind: CapacityRowKind, clusterName: string, brokerName: string, topicName: string | null, day: string | null, bytes: string | null, diskTotalBytes: string | null, diskFreeBytes: string | null, bytesPerDay: number | null, daysUntilFull: number | null, note: string | null }>, topicDays: Array<{ kind: CapacityRowKind, clusterName: string, brokerName: string, topicName: string | null, day: string | null, bytes: string | null, diskTotalBytes: string | null, diskFreeBytes: string | null, bytesPerDay: number | null, daysUntilFull: number | null, note: string | null }> } | null };

export type RequestCapacityReportMutationVariables = Exact<{ [key: string]: never; }>;


export type RequestCapacityReportMutation = { requestCapacityReport: { id: string, status: string, requestedAt: string, startedAt: string | null, finishedAt: string | null, requestedBy: string, error: string | null, coverageFrom: string | null, coverageTo: string | null, sampleCount: string | null } };

export type ClientsQueryVariables = Exact<{
  clusterName: string;
  first: number;
  after?: string | null | undefined;
  search?: string | null | undefined;
  group?: string | null | undefined;
  role?: ClientRole | null | undefined;
}>;


export type ClientsQuery = { clients: { totalCount: number, observedAt: string, pageInfo: { hasNextPage: boolean, endCursor: string | null }, unknown: Array<{ name: string, address: string, why: string }>, nodes: Array<{ clientId: string, roles: Array<ClientRole>, producerGroups: Array<string>, consumerGroups: Array<string>, heardMs: string | null, connections: Array<{ brokerName: string, brokerAddress: string, address: string, language: string, version: number, versionName: string | null, heardMs: string | null, producerGroups: Array<string>, consumerGroups: Array<string> }> }> } };

export type ClientQueryVariables = Exact<{
  clusterName: string;
  clientId: string;
}>;


export type ClientQuery = { client: { client: { clientId: string, roles: Array<ClientRole>, producerGroups: Array<string>, consumerGroups: Array<string>, heardMs: string | null, connections: Array<{ brokerName: string, brokerAddress: string, address: string, language: string, version: number, versionName: string | null, heardMs: string | null, producerGroups: Array<string>, consumerGroups: Array<string> }> }, unknown: Array<{ name: string, address: string, why: string }> } | null };

export type ClientFieldsFragment = { clientId: string, roles: Array<ClientRole>, producerGroups: Array<string>, consumerGroups: Array<string>, heardMs: string | null, connections: Array<{ brokerName: string, brokerAddress: string, address: string, language: string, version: number, versionName: string | null, heardMs: string | null, producerGroups: Array<string>, consumerGroups: Array<string> }> };

export type ClustersQueryVariables = Exact<{
  first: number;
}>;


export type ClustersQuery = { clusters: { totalCount: number, nodes: Array<{ id: string, name: string }> } };

export type ConsumerGroupsQueryVariables = Exact<{
  clusterName: string;
  first: number;
  after?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type ConsumerGroupsQuery = { consumerGroups: { totalCount: number, observedAt: string, pageInfo: { hasNextPage: boolean, endCursor: string | null }, unknown: Array<{ name: string, address: string, why: string }>, nodes: Array<{ name: string, brokerGroupNames: Array<string>, state: ConsumerGroupState, brokerCountTold: number, brokerCountAsked: number, memberCount: number, protection: { protectedBy: string, protectedAt: string, reason: string | null } | null, lag: { messageCount: string | null, waitingMs: string | null, isComplete: boolean, expiredCount: string | null, isApplicable: boolean }, retryLag: { messageCount: string | null, waitingMs: string | null, isComplete: boolean, expiredCount: string | null, isApplicable: boolean } }> } };

export type ConsumerGroupQueryVariables = Exact<{
  clusterName: string;
  name: string;
}>;


export type ConsumerGroupQuery = { consumerGroup: { name: string, isSystem: boolean, state: ConsumerGroupState, brokerCountTold: number, brokerCountAsked: number, models: Array<string>, deadLetterCount: string | null, isDeadLetterCountComplete: boolean, observedAt: string, protection: { protectedBy: string, protectedAt: string, reason: string | null } | null, lag: { messageCount: string | null, waitingMs: string | null, isComplete: boolean, expiredCount: string | null, isApplicable: boolean }, retryLag: { messageCount: string | null, waitingMs: string | null, isComplete: boolean, expiredCount: string | null, isApplicable: boolean }, settings: Array<{ brokerGroupName: string, consumeEnabled: boolean, broadcastAllowed: boolean, isOrdered: boolean, retryCountMax: number, consumeTimeoutMinutes: number, consumeFromMinEnabled: boolean, retryQueueCount: number, notifiesMembers: boolean }>, members: Array<{ clientId: string, address: string, language: string, version: number, versionName: string | null, brokerGroupNames: Array<string>, addresses: Array<string>, subscriptions: Array<string>, messageModels: Array<string> }>, subscriptions: Array<{ topic: string, expressions: Array<string> }>, queues: Array<{ brokerGroupName: string, topic: string, queueId: number, kind: LagQueueKind, committed: string | null, begin: string | null, end: string, lag: string | null, expiredCount: string | null, aheadCount: string | null, waitingMs: string | null, consumedAt: string | null, owner: string | null }>, unknown: Array<{ name: string, address: string, why: string }> } | null };

export type LagFieldsFragment = { messageCount: string | null, waitingMs: string | null, isComplete: boolean, expiredCount: string | null, isApplicable: boolean };

export type UnknownBrokerFieldsFragment = { name: string, address: string, why: string };

export type InnerBrokerFieldsFragment = { clusterName: string, brokerGroupName: string, name: string | null, ownId: string | null, isMaster: boolean, path: string | null, failure: string | null };

export type ContainerFieldsFragment = { address: string, whyUnknown: string | null, brokers: Array<{ clusterName: string, brokerGroupName: string, name: string | null, ownId: string | null, isMaster: boolean, path: string | null, failure: string | null }> };

export type ContainersQueryVariables = Exact<{
  chosen: ContainerFilter;
  first: number;
  after?: string | null | undefined;
}>;


export type ContainersQuery = { containers: { observedAt: string, totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ address: string, whyUnknown: string | null, brokers: Array<{ clusterName: string, brokerGroupName: string, name: string | null, ownId: string | null, isMaster: boolean, path: string | null, failure: string | null }> }>, unknown: Array<{ name: string, address: string, why: string }> } };

export type FindingsQueryVariables = Exact<{
  clusterName: string;
  first: number;
  after?: string | null | undefined;
  isOpen?: boolean | null | undefined;
}>;


export type FindingsQuery = { findings: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, code: FindingCode, severity: Severity, title: string, clusterName: string, subject: string, brokerGroupName: string | null, topicName: string | null, sentence: string | null, evidence: unknown, advice: string, since: string, openedAt: string, closedAt: string | null }> } };

export type OpenFindingsQueryVariables = Exact<{
  clusterName: string;
  first: number;
}>;


export type OpenFindingsQuery = { findings: { totalCount: number, nodes: Array<{ severity: Severity }> } };

export type BrokerGroupMembersQueryVariables = Exact<{
  clusterName: string;
  brokerGroupName: string;
}>;


export type BrokerGroupMembersQuery = { brokerGroupMembers: { mode: GroupMode, actingBroker: string | null, actingSince: string | null, actingReason: string | null, members: Array<{ name: string, address: string, phase: BrokerGroupMemberPhase, explanation: string, nextStep: string | null, lastHeartbeatAt: string | null, aliveCount: number | null, offsetVersion: string | null, lockCount: number | null }> } | null };

export type GroupMemberFieldsFragment = { name: string, address: string, phase: BrokerGroupMemberPhase, explanation: string, nextStep: string | null, lastHeartbeatAt: string | null, aliveCount: number | null, offsetVersion: string | null, lockCount: number | null };

export type LockFieldsFragment = { clusterName: string, consumerGroupName: string, topic: string, brokerGroupName: string, brokerAddress: string, queueId: number, isLogical: boolean, physicalQueueId: number | null, clientId: string, holder: LockHolder, heldMs: string, renewedMs: string, expiresInMs: string, heardMs: string | null };

export type LocksQueryVariables = Exact<{
  chosen: LockFilter;
  first: number;
  after?: string | null | undefined;
}>;


export type LocksQuery = { locks: { observedAt: string, totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ clusterName: string, consumerGroupName: string, topic: string, brokerGroupName: string, brokerAddress: string, queueId: number, isLogical: boolean, physicalQueueId: number | null, clientId: string, holder: LockHolder, heldMs: string, renewedMs: string, expiresInMs: string, heardMs: string | null }>, unknown: Array<{ name: string, address: string, why: string }> } };

export type LeasesQueryVariables = Exact<{
  clusterName: string;
  first: number;
  after?: string | null | undefined;
}>;


export type LeasesQuery = { leases: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ clusterName: string, brokerGroupName: string, masterId: string | null, masterAddress: string | null, masterEpoch: number, policy: LeasePolicy, isMasterAlive: boolean, endsAt: string | null }> } };

export type OperationLeasesQueryVariables = Exact<{
  clusterName: string;
  first: number;
}>;


export type OperationLeasesQuery = { operationLeases: { totalCount: number, nodes: Array<{ operationId: string, kind: string, target: string, step: string | null, fence: string, renewedAt: string, endsAt: string }> } };

export type QueueExplanationsQueryVariables = Exact<{
  clusterName: string;
  consumerGroupName: string;
  topicName: string;
  brokerGroupName?: string | null | undefined;
  queueId?: number | null | undefined;
}>;


export type QueueExplanationsQuery = { queueExplanations: Array<{ brokerGroupName: string, queueId: number, isPaused: boolean | null, cause: PauseCause, sentence: string, evidence: Array<string>, lag: string | null }> };

export type MessagesQueryVariables = Exact<{
  clusterName: string;
  topicName: string;
  first: number;
  after?: string | null | undefined;
  within?: MessageRange | null | undefined;
}>;


export type MessagesQuery = { messages: { observedAt: string, pageInfo: { hasNextPage: boolean, endCursor: string | null }, unknown: Array<{ name: string, address: string, why: string }>, nodes: Array<{ messageId: string, uniqueKey: string | null, topic: string, brokerGroupName: string, queueId: number, queueOffset: string, storedAt: string | null, bodyBytes: number, keys: Array<string>, tags: string | null }> } };

export type DeadLettersQueryVariables = Exact<{
  clusterName: string;
  topicName: string;
  first: number;
}>;


export type DeadLettersQuery = { messages: { pageInfo: { hasNextPage: boolean }, unknown: Array<{ name: string, address: string, why: string }>, nodes: Array<{ messageId: string, storedAt: string | null, brokerGroupName: string, queueOffset: string, keys: Array<string>, reconsumeTimes: number, properties: Array<{ name: string, value: string }> }> } };

export type FoundMessagesQueryVariables = Exact<{
  clusterName: string;
  topicName: string;
  key: string;
  isUnique: boolean;
}>;


export type FoundMessagesQuery = { foundMessages: { isComplete: boolean, unknown: Array<{ name: string, address: string, why: string }>, nodes: Array<{ messageId: string, uniqueKey: string | null, topic: string, brokerGroupName: string, queueId: number, queueOffset: string, storedAt: string | null, bodyBytes: number, keys: Array<string>, tags: string | null }> } };

export type MessageQueryVariables = Exact<{
  clusterName: string;
  messageId: string;
  topicName?: string | null | undefined;
}>;


export type MessageQuery = { message: { message: { logPosition: string, storeHost: string, bornAt: string | null, bornHost: string, reconsumeTimes: number, sizeBytes: number, messageId: string, uniqueKey: string | null, topic: string, brokerGroupName: string, queueId: number, queueOffset: string, storedAt: string | null, bodyBytes: number, keys: Array<string>, tags: string | null, properties: Array<{ name: string, value: string }> }, deliveries: { consumerGroupCount: number, nodes: Array<{ consumerGroupName: string, state: DeliveryState, why: string }>, unknown: Array<{ name: string, address: string, why: string }> } } | null };

export type MessageBodyQueryVariables = Exact<{
  clusterName: string;
  messageId: string;
  topicName?: string | null | undefined;
  form: BodyForm;
}>;


export type MessageBodyQuery = { messageBody: { form: BodyForm, content: string, isCut: boolean, storedBytes: number, sizeBytes: number | null, shownBytes: number, compression: string | null, note: string | null } | null };

export type SendMessageMutationVariables = Exact<{
  message: SendMessageInput;
}>;


export type SendMessageMutation = { sendMessage: { state: SendState, messageId: string, uniqueKey: string, brokerGroupName: string, queueId: number, queueOffset: string | null, bodyBytes: number, bodySha256: string, doubt: string | null } };

export type MessageFieldsFragment = { messageId: string, uniqueKey: string | null, topic: string, brokerGroupName: string, queueId: number, queueOffset: string, storedAt: string | null, bodyBytes: number, keys: Array<string>, tags: string | null };

export type OperationSummaryFragment = { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, plannedAt: string, requestedBy: string, plan: { summary: string, risk: Risk }, steps: Array<{ position: number, state: StepState }> };

export type StepFieldsFragment = { position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null };

export type OperationFieldsFragment = { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> };

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


export type OperationQuery = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type OperationFactsQueryVariables = Exact<{
  id: string | number;
}>;


export type OperationFactsQuery = { operation: { id: string, movedFact: { name: string, expected: string, found: string | null } | null } };

export type QueueMovesQueryVariables = Exact<{
  clusterName: string;
  topicName: string;
}>;


export type QueueMovesQuery = { logicalQueues: { change: { id: string, stale: Array<string>, moves: Array<{ globalId: number, sourceName: string, destinationName: string, step: MoveStep, queueId: number | null }> } | null } | null };

export type PlanOperationMutationVariables = Exact<{
  plan: PlanInput;
  key: string;
}>;


export type PlanOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type ConfirmOperationMutationVariables = Exact<{
  id: string | number;
  given: ConfirmationInput;
  key: string;
}>;


export type ConfirmOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type ApproveOperationMutationVariables = Exact<{
  id: string | number;
  reason: string;
  key: string;
}>;


export type ApproveOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type DeclineOperationMutationVariables = Exact<{
  id: string | number;
  reason: string;
  key: string;
}>;


export type DeclineOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type PauseOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type PauseOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type ResumeOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type ResumeOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type CancelOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type CancelOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type RetryOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type RetryOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type UndoOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type UndoOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type ReplanOperationMutationVariables = Exact<{
  id: string | number;
  key: string;
}>;


export type ReplanOperationMutation = { operation: { id: string, kind: string, clusterName: string, target: string, state: OperationState, wish: OperationWish | null, outcome: string | null, requestedBy: string, reason: string | null, confirmedBy: string | null, reviewedBy: string | null, reviewReason: string | null, plannedAt: string, expiresAt: string, confirmedAt: string | null, notBefore: string | null, endedAt: string | null, undoes: string | null, actions: Array<OperationAction>, whyNotUndo: string | null, parameters: unknown, plan: { summary: string, risk: Risk, riskLabel: string, impact: Array<string>, wayBack: string, loss: string | null, facts: unknown, gate: { needsName: boolean, needsLossAccepted: boolean, holdMs: number }, preconditions: Array<{ name: string, value: string }>, changes: Array<{ what: string, before: string | null, after: string | null }>, checks: Array<{ name: string, verdict: CheckVerdict, why: string, stockCode: number | null }> }, steps: Array<{ position: number, name: string, title: string, state: StepState, attemptCount: number, before: unknown, after: unknown, error: string | null, beganAt: string | null, endedAt: string | null }>, readBack: Array<{ what: string, intended: string, observed: string | null, agreement: Agreement }> } };

export type RatesQueryVariables = Exact<{
  minutes: number;
}>;


export type RatesQuery = { rates: Array<{ observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null }> };

export type GroupHealthFieldsFragment = { brokerGroupName: string, verdict: HealthVerdict, sentence: string, nextFailure: string, hasWriter: boolean | null, writerFault: WriterFault | null };

export type HealthQueryVariables = Exact<{
  clusterName: string;
}>;


export type HealthQuery = { health: { verdict: HealthVerdict, sentence: string, nextFailure: string | null, groupCount: number, replicaCount: number, aliveCount: number, observedAt: string, troubled: Array<{ brokerGroupName: string, verdict: HealthVerdict, sentence: string, nextFailure: string, hasWriter: boolean | null, writerFault: WriterFault | null }> } };

export type OverviewQueryVariables = Exact<{ [key: string]: never; }>;


export type OverviewQuery = { overview: { clusterCount: number, brokerGroupCount: number, brokerCount: number, onlineBrokerCount: number, topicCount: number, soonestFullDisk: { clusterName: string, brokerName: string, diskTotalBytes: string | null, diskFreeBytes: string | null, bytesPerDay: number | null, daysUntilFull: number | null, note: string | null } | null }, capacityReports: { nodes: Array<{ id: string, status: string }> } };

export type ReplicaFieldsFragment = { brokerId: string, address: string, isMaster: boolean, isInSync: boolean, isAlive: boolean, lastHeartbeatAt: string | null, epoch: number | null, maxOffset: string | null, confirmOffset: string | null, isVerified: boolean | null, isCordoned: boolean | null, protocolVersion: number | null };

export type ReplicaGroupFieldsFragment = { clusterName: string, name: string, leasePolicy: LeasePolicy, leaseLeftMs: string, preferredId: string | null, confirmedEpoch: number | null, confirmedPosition: string | null, masterId: string | null, masterEpoch: number, protocolVersion: number, versionLimit: number | null, isMasterAlive: boolean, syncStateSet: Array<string>, syncStateSetEpoch: number, replicas: Array<{ brokerId: string, address: string, isMaster: boolean, isInSync: boolean, isAlive: boolean, lastHeartbeatAt: string | null, epoch: number | null, maxOffset: string | null, confirmOffset: string | null, isVerified: boolean | null, isCordoned: boolean | null, protocolVersion: number | null }> };

export type ElectionFieldsFragment = { winnerId: string | null, isUnchanged: boolean, awaitsLeaseMs: string, warning: string | null, candidates: Array<{ brokerId: string, verdict: ElectionVerdict, reason: string }> };

export type GroupChangeFieldsFragment = { id: string, kind: GroupChangeKind, cause: string, warning: string | null, changedAt: string, masterId: string | null, masterEpoch: number, syncStateSet: Array<string>, syncStateSetEpoch: number, replicaAddresses: Array<{ brokerId: string, address: string }> };

export type LogHistoryFieldsFragment = { brokerId: string, address: string, maxOffset: string | null, error: string | null, epochs: Array<{ epoch: number, startOffset: string, endOffset: string | null }> | null };

export type ReplicaGroupsQueryVariables = Exact<{
  clusterName: string;
  first: number;
  after?: string | null | undefined;
  search?: string | null | undefined;
}>;


export type ReplicaGroupsQuery = { cluster: { id: string, replicaGroups: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ clusterName: string, name: string, leasePolicy: LeasePolicy, leaseLeftMs: string, preferredId: string | null, confirmedEpoch: number | null, confirmedPosition: string | null, masterId: string | null, masterEpoch: number, protocolVersion: number, versionLimit: number | null, isMasterAlive: boolean, syncStateSet: Array<string>, syncStateSetEpoch: number, replicas: Array<{ brokerId: string, address: string, isMaster: boolean, isInSync: boolean, isAlive: boolean, lastHeartbeatAt: string | null, epoch: number | null, maxOffset: string | null, confirmOffset: string | null, isVerified: boolean | null, isCordoned: boolean | null, protocolVersion: number | null }> }> } } | null };

export type ReplicaGroupQueryVariables = Exact<{
  clusterName: string;
  brokerGroupName: string;
}>;


export type ReplicaGroupQuery = { cluster: { id: string, replicaGroup: { clusterName: string, name: string, leasePolicy: LeasePolicy, leaseLeftMs: string, preferredId: string | null, confirmedEpoch: number | null, confirmedPosition: string | null, masterId: string | null, masterEpoch: number, protocolVersion: number, versionLimit: number | null, isMasterAlive: boolean, syncStateSet: Array<string>, syncStateSetEpoch: number, health: { brokerGroupName: string, verdict: HealthVerdict, sentence: string, nextFailure: string, hasWriter: boolean | null, writerFault: WriterFault | null } | null, election: { winnerId: string | null, isUnchanged: boolean, awaitsLeaseMs: string, warning: string | null, candidates: Array<{ brokerId: string, verdict: ElectionVerdict, reason: string }> }, replicas: Array<{ brokerId: string, address: string, isMaster: boolean, isInSync: boolean, isAlive: boolean, lastHeartbeatAt: string | null, epoch: number | null, maxOffset: string | null, confirmOffset: string | null, isVerified: boolean | null, isCordoned: boolean | null, protocolVersion: number | null }> } | null } | null };

export type DesignatedElectionQueryVariables = Exact<{
  clusterName: string;
  brokerGroupName: string;
  brokerId: string;
}>;


export type DesignatedElectionQuery = { cluster: { id: string, replicaGroup: { election: { winnerId: string | null, isUnchanged: boolean, awaitsLeaseMs: string, warning: string | null, candidates: Array<{ brokerId: string, verdict: ElectionVerdict, reason: string }> } } | null } | null };

export type GroupChangesQueryVariables = Exact<{
  clusterName: string;
  brokerGroupName: string;
  first: number;
  after?: string | null | undefined;
}>;


export type GroupChangesQuery = { cluster: { id: string, replicaGroup: { changes: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, kind: GroupChangeKind, cause: string, warning: string | null, changedAt: string, masterId: string | null, masterEpoch: number, syncStateSet: Array<string>, syncStateSetEpoch: number, replicaAddresses: Array<{ brokerId: string, address: string }> }> } } | null } | null };

export type GroupEpochsQueryVariables = Exact<{
  clusterName: string;
  brokerGroupName: string;
}>;


export type GroupEpochsQuery = { cluster: { id: string, replicaGroup: { epochs: { differingEpoch: number | null, replicas: Array<{ brokerId: string, address: string, maxOffset: string | null, error: string | null, epochs: Array<{ epoch: number, startOffset: string, endOffset: string | null }> | null }> } } | null } | null };

export type GroupObstaclesQueryVariables = Exact<{
  clusterName: string;
  brokerGroupName: string;
}>;


export type GroupObstaclesQuery = { cluster: { id: string, replicaGroup: { lag: { replicas: Array<{ brokerId: string, obstacle: string | null }> } } | null } | null };

export type AdoptionCandidateFieldsFragment = { clusterName: string, brokerGroupName: string, brokerId: string, address: string, epoch: number | null, maxOffset: string | null, masterId: string | null, hasCode: boolean, heardAt: string };

export type AdoptionCandidatesQueryVariables = Exact<{
  first: number;
}>;


export type AdoptionCandidatesQuery = { adoptionCandidates: { totalCount: number, nodes: Array<{ clusterName: string, brokerGroupName: string, brokerId: string, address: string, epoch: number | null, maxOffset: string | null, masterId: string | null, hasCode: boolean, heardAt: string }> } };

export type ShareQueueFieldsFragment = { clusterName: string, consumerGroupName: string, topic: string, brokerGroupName: string, queueId: number, mode: ShareMode, owner: string | null, waiters: Array<string>, leaseEpoch: string, consumeMode: ConsumeMode | null, isOrdered: boolean, position: string, windowEnd: string, maxOffset: string, windowSize: number, isFull: boolean, unfinishedCount: string, acquiredCount: number, returnedCount: number, oldestAcquiredMs: string | null, oldestDeliveredMs: string | null, attemptCountMax: number, countedMs: string, deliveredCount: string, redeliveredCount: string, acceptedCount: string, deadLetterCount: string, discardedCount: string, retriedCount: string };

export type ShareMessageFieldsFragment = { offset: string, holder: LockHolder | null, clientId: string | null, acquiredMs: string, deliveredMs: string, dueInMs: string, deliveryCount: number };

export type ShareIncidentFieldsFragment = { id: string, broker: string, kind: IncidentKind, explanation: string, epoch: string, position: string | null, topic: string | null, queueId: number | null, consumerGroupName: string | null, reason: string | null, outcome: IncidentOutcome | null, openedAt: string, resolvedAt: string | null, resolution: IncidentResolution | null };

export type ShareQueuesQueryVariables = Exact<{
  chosen: ShareQueueFilter;
  first: number;
  after?: string | null | undefined;
}>;


export type ShareQueuesQuery = { shareQueues: { observedAt: string, totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ clusterName: string, consumerGroupName: string, topic: string, brokerGroupName: string, queueId: number, mode: ShareMode, owner: string | null, waiters: Array<string>, leaseEpoch: string, consumeMode: ConsumeMode | null, isOrdered: boolean, position: string, windowEnd: string, maxOffset: string, windowSize: number, isFull: boolean, unfinishedCount: string, acquiredCount: number, returnedCount: number, oldestAcquiredMs: string | null, oldestDeliveredMs: string | null, attemptCountMax: number, countedMs: string, deliveredCount: string, redeliveredCount: string, acceptedCount: string, deadLetterCount: string, discardedCount: string, retriedCount: string }>, unknown: Array<{ name: string, address: string, why: string }> } };

export type ShareQueueQueryVariables = Exact<{
  clusterName: string;
  brokerGroupName: string;
  topic: string;
  queueId: number;
  consumerGroupName: string;
}>;


export type ShareQueueQuery = { shareQueue: { observedAt: string, queue: { clusterName: string, consumerGroupName: string, topic: string, brokerGroupName: string, queueId: number, mode: ShareMode, owner: string | null, waiters: Array<string>, leaseEpoch: string, consumeMode: ConsumeMode | null, isOrdered: boolean, position: string, windowEnd: string, maxOffset: string, windowSize: number, isFull: boolean, unfinishedCount: string, acquiredCount: number, returnedCount: number, oldestAcquiredMs: string | null, oldestDeliveredMs: string | null, attemptCountMax: number, countedMs: string, deliveredCount: string, redeliveredCount: string, acceptedCount: string, deadLetterCount: string, discardedCount: string, retriedCount: string }, messages: Array<{ offset: string, holder: LockHolder | null, clientId: string | null, acquiredMs: string, deliveredMs: string, dueInMs: string, deliveryCount: number }> } | null };

export type ShareIncidentsQueryVariables = Exact<{
  chosen: ShareIncidentFilter;
  first: number;
}>;


export type ShareIncidentsQuery = { shareIncidents: { totalCount: number, nodes: Array<{ id: string, broker: string, kind: IncidentKind, explanation: string, epoch: string, position: string | null, topic: string | null, queueId: number | null, consumerGroupName: string | null, reason: string | null, outcome: IncidentOutcome | null, openedAt: string, resolvedAt: string | null, resolution: IncidentResolution | null }> } };

export type TimerSpanFieldsFragment = { startsAt: string, waitingCount: string };

export type BrokerTimersFieldsFragment = { clusterName: string, brokerGroupName: string, brokerAddress: string, waitingCount: string, overdueCount: string | null, heldCount: string | null, rolledCount: string | null, untakenCount: string, behindMs: string, hindrance: string | null, firstDueAt: string | null, lastDueAt: string | null, topicCount: number, minutes: Array<{ startsAt: string, waitingCount: string }> | null, hours: Array<{ startsAt: string, waitingCount: string }> | null, topics: Array<{ topic: string, waitingCount: string }> };

export type TimersQueryVariables = Exact<{
  chosen: TimerFilter;
  first: number;
  after?: string | null | undefined;
}>;


export type TimersQuery = { timers: { observedAt: string, totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ clusterName: string, brokerGroupName: string, brokerAddress: string, waitingCount: string, overdueCount: string | null, heldCount: string | null, rolledCount: string | null, untakenCount: string, behindMs: string, hindrance: string | null, firstDueAt: string | null, lastDueAt: string | null, topicCount: number, minutes: Array<{ startsAt: string, waitingCount: string }> | null, hours: Array<{ startsAt: string, waitingCount: string }> | null, topics: Array<{ topic: string, waitingCount: string }> }>, unknown: Array<{ name: string, address: string, why: string }> } };

export type TopicsQueryVariables = Exact<{
  clusterName: string;
  first: number;
  after?: string | null | undefined;
  search?: string | null | undefined;
  kind?: TopicKind | null | undefined;
}>;


export type TopicsQuery = { cluster: { id: string, topics: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, name: string, kind: TopicKind, messagesInPerSecond: number | null, bytesInPerSecond: number | null, protection: { protectedBy: string, protectedAt: string, reason: string | null } | null, placements: Array<{ brokerGroupName: string, readQueueCount: number, writeQueueCount: number, readable: boolean, writable: boolean, inherited: boolean }> }> } } | null };

export type TopicQueryVariables = Exact<{
  clusterName: string;
  topicName: string;
}>;


export type TopicQuery = { cluster: { id: string, topic: { id: string, name: string, kind: TopicKind, clusterName: string, messagesInPerSecond: number | null, bytesInPerSecond: number | null, protection: { protectedBy: string, protectedAt: string, reason: string | null } | null, placements: Array<{ brokerGroupName: string, readQueueCount: number, writeQueueCount: number, readable: boolean, writable: boolean, inherited: boolean, isOrdered: boolean, messageType: string | null, shareMode: ShareMode, isTimeShared: boolean, isReplicated: boolean }>, queues: Array<{ brokerGroupName: string, queueId: number, minOffset: string | null, maxOffset: string | null, observedAt: string | null }>, route: Array<{ brokerGroupName: string, readQueueCount: number, writeQueueCount: number, permissions: number, brokers: Array<{ brokerId: string, address: string }> }> } | null } | null };

export type LogicalQueuesQueryVariables = Exact<{
  clusterName: string;
  topicName: string;
}>;


export type LogicalQueuesQuery = { logicalQueues: { epoch: string, change: { id: string, stale: Array<string>, moves: Array<{ globalId: number, sourceName: string, destinationName: string, step: MoveStep, queueId: number | null }> } | null, queues: Array<{ globalId: number, leaderName: string | null, sealed: boolean, maxOffset: string | null, segments: Array<{ generation: number, brokerGroupName: string, queueId: number, status: SegmentStatus, logicalStart: string | null, logicalEnd: string | null, physicalStart: string, physicalEnd: string | null }> }> } | null };

export type StaticTopicsQueryVariables = Exact<{
  clusterName: string;
  brokerGroupName?: string | null | undefined;
  first: number;
}>;


export type StaticTopicsQuery = { staticTopics: { totalCount: number, nodes: Array<{ name: string, queueCount: number, changeId: string | null, shares: Array<{ brokerGroupName: string, ledCount: number, segmentCount: number }> }> } };

export type QueueChangeFieldsFragment = { stale: Array<string>, moves: Array<{ globalId: number, sourceName: string, destinationName: string, step: MoveStep, queueId: number | null }> };

export type ProtectionFieldsFragment = { protectedBy: string, protectedAt: string, reason: string | null };

export type BrokerFieldsFragment = { id: string, name: string, ownId: string, brokerId: string, brokerGroupName: string, role: BrokerRole, state: BrokerState, address: string, haAddress: string | null, registeredAt: string, isRegistered: boolean, lastHeartbeatAt: string | null, latestSample: { clusterName: string, brokerGroupName: string, brokerName: string, brokerId: string, observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null, bytesInPerSecond: number | null, bytesOutPerSecond: number | null, storeBytes: string, diskTotalBytes: string, diskFreeBytes: string, residentBytes: string, commitLogMaxPosition: string } | null };

export type TopologyQueryVariables = Exact<{
  clusterName: string;
  groupCount: number;
  after?: string | null | undefined;
}>;


export type TopologyQuery = { nameServers: Array<{ address: string, startedAt: string, routeVersion: string, topicCount: number, brokerCount: number, connectionCount: number }>, cluster: { id: string, name: string, routeVersion: string, brokerGroups: { totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ id: string, name: string, clusterName: string, actingBroker: string | null, brokers: Array<{ id: string, name: string, ownId: string, brokerId: string, brokerGroupName: string, role: BrokerRole, state: BrokerState, address: string, haAddress: string | null, registeredAt: string, isRegistered: boolean, lastHeartbeatAt: string | null, latestSample: { clusterName: string, brokerGroupName: string, brokerName: string, brokerId: string, observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null, bytesInPerSecond: number | null, bytesOutPerSecond: number | null, storeBytes: string, diskTotalBytes: string, diskFreeBytes: string, residentBytes: string, commitLogMaxPosition: string } | null }> }> } } | null };

export type TransactionFieldsFragment = { clusterName: string, brokerGroupName: string, brokerAddress: string, transactionId: string, producerGroupName: string, topic: string, queueId: number, ageMs: string, checkCount: number, producerCount: number, messageId: string };

export type TransactionsQueryVariables = Exact<{
  chosen: TransactionFilter;
  first: number;
  after?: string | null | undefined;
}>;


export type TransactionsQuery = { transactions: { observedAt: string, totalCount: number, pageInfo: { hasNextPage: boolean, endCursor: string | null }, nodes: Array<{ clusterName: string, brokerGroupName: string, brokerAddress: string, transactionId: string, producerGroupName: string, topic: string, queueId: number, ageMs: string, checkCount: number, producerCount: number, messageId: string }>, unknown: Array<{ name: string, address: string, why: string }> } };

export type EventPositionQueryVariables = Exact<{ [key: string]: never; }>;


export type EventPositionQuery = { events: { newestNumber: string } };

export type EventsSubscriptionVariables = Exact<{
  after?: string | null | undefined;
}>;


export type EventsSubscription = { events: { number: string, kind: string, clusterName: string, subject: string, brokerGroupName: string | null, operationId: string | null, details: unknown } };

export type SampleFieldsFragment = { clusterName: string, brokerGroupName: string, brokerName: string, brokerId: string, observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null, bytesInPerSecond: number | null, bytesOutPerSecond: number | null, storeBytes: string, diskTotalBytes: string, diskFreeBytes: string, residentBytes: string, commitLogMaxPosition: string };

export type SamplesSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type SamplesSubscription = { samples: { clusterName: string, brokerGroupName: string, brokerName: string, brokerId: string, observedAt: string, messagesInPerSecond: number | null, messagesOutPerSecond: number | null, bytesInPerSecond: number | null, bytesOutPerSecond: number | null, storeBytes: string, diskTotalBytes: string, diskFreeBytes: string, residentBytes: string, commitLogMaxPosition: string } };

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
export const UserFieldsFragmentDoc = new TypedDocumentString(`
    fragment UserFields on User {
  name
  role
  clusterPatterns
  createdAt
  disabledAt
  passwordExpiresAt
  version
}
    `, {"fragmentName":"UserFields"}) as unknown as TypedDocumentString<UserFieldsFragment, unknown>;
export const TokenFieldsFragmentDoc = new TypedDocumentString(`
    fragment TokenFields on ApiToken {
  id
  userName
  name
  prefix
  role
  isReadOnly
  clusterPatterns
  createdAt
  expiresAt
  lastUsedAt
  lastUsedFrom
}
    `, {"fragmentName":"TokenFields"}) as unknown as TypedDocumentString<TokenFieldsFragment, unknown>;
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
  brokerName
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
export const ClientFieldsFragmentDoc = new TypedDocumentString(`
    fragment ClientFields on Client {
  clientId
  roles
  producerGroups
  consumerGroups
  heardMs
  connections {
    brokerName
    brokerAddress
    address
    language
    version
    versionName
    heardMs
    producerGroups
    consumerGroups
  }
}
    `, {"fragmentName":"ClientFields"}) as unknown as TypedDocumentString<ClientFieldsFragment, unknown>;
export const LagFieldsFragmentDoc = new TypedDocumentString(`
    fragment LagFields on ConsumerLag {
  messageCount
  waitingMs
  isComplete
  expiredCount
  isApplicable
}
    `, {"fragmentName":"LagFields"}) as unknown as TypedDocumentString<LagFieldsFragment, unknown>;
export const UnknownBrokerFieldsFragmentDoc = new TypedDocumentString(`
    fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
    `, {"fragmentName":"UnknownBrokerFields"}) as unknown as TypedDocumentString<UnknownBrokerFieldsFragment, unknown>;
export const InnerBrokerFieldsFragmentDoc = new TypedDocumentString(`
    fragment InnerBrokerFields on InnerBroker {
  clusterName
  brokerGroupName
  name
  ownId
  isMaster
  path
  failure
}
    `, {"fragmentName":"InnerBrokerFields"}) as unknown as TypedDocumentString<InnerBrokerFieldsFragment, unknown>;
export const ContainerFieldsFragmentDoc = new TypedDocumentString(`
    fragment ContainerFields on Container {
  address
  whyUnknown
  brokers {
    ...InnerBrokerFields
  }
}
    fragment InnerBrokerFields on InnerBroker {
  clusterName
  brokerGroupName
  name
  ownId
  isMaster
  path
  failure
}`, {"fragmentName":"ContainerFields"}) as unknown as TypedDocumentString<ContainerFieldsFragment, unknown>;
export const GroupMemberFieldsFragmentDoc = new TypedDocumentString(`
    fragment GroupMemberFields on BrokerGroupMember {
  name
  address
  phase
  explanation
  nextStep
  lastHeartbeatAt
  aliveCount
  offsetVersion
  lockCount
}
    `, {"fragmentName":"GroupMemberFields"}) as unknown as TypedDocumentString<GroupMemberFieldsFragment, unknown>;
export const LockFieldsFragmentDoc = new TypedDocumentString(`
    fragment LockFields on QueueLock {
  clusterName
  consumerGroupName
  topic
  brokerGroupName
  brokerAddress
  queueId
  isLogical
  physicalQueueId
  clientId
  holder
  heldMs
  renewedMs
  expiresInMs
  heardMs
}
    `, {"fragmentName":"LockFields"}) as unknown as TypedDocumentString<LockFieldsFragment, unknown>;
export const MessageFieldsFragmentDoc = new TypedDocumentString(`
    fragment MessageFields on Message {
  messageId
  uniqueKey
  topic
  brokerGroupName
  queueId
  queueOffset
  storedAt
  bodyBytes
  keys
  tags
}
    `, {"fragmentName":"MessageFields"}) as unknown as TypedDocumentString<MessageFieldsFragment, unknown>;
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
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
export const GroupHealthFieldsFragmentDoc = new TypedDocumentString(`
    fragment GroupHealthFields on GroupHealth {
  brokerGroupName
  verdict
  sentence
  nextFailure
  hasWriter
  writerFault
}
    `, {"fragmentName":"GroupHealthFields"}) as unknown as TypedDocumentString<GroupHealthFieldsFragment, unknown>;
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
  isCordoned
  protocolVersion
}
    `, {"fragmentName":"ReplicaFields"}) as unknown as TypedDocumentString<ReplicaFieldsFragment, unknown>;
export const ReplicaGroupFieldsFragmentDoc = new TypedDocumentString(`
    fragment ReplicaGroupFields on ReplicaGroup {
  clusterName
  name
  leasePolicy
  leaseLeftMs
  preferredId
  confirmedEpoch
  confirmedPosition
  masterId
  masterEpoch
  protocolVersion
  versionLimit
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
  isCordoned
  protocolVersion
}`, {"fragmentName":"ReplicaGroupFields"}) as unknown as TypedDocumentString<ReplicaGroupFieldsFragment, unknown>;
export const ElectionFieldsFragmentDoc = new TypedDocumentString(`
    fragment ElectionFields on Election {
  winnerId
  isUnchanged
  awaitsLeaseMs
  warning
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
  warning
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
  brokerGroupName
  brokerId
  address
  epoch
  maxOffset
  masterId
  hasCode
  heardAt
}
    `, {"fragmentName":"AdoptionCandidateFields"}) as unknown as TypedDocumentString<AdoptionCandidateFieldsFragment, unknown>;
export const ShareQueueFieldsFragmentDoc = new TypedDocumentString(`
    fragment ShareQueueFields on ShareQueue {
  clusterName
  consumerGroupName
  topic
  brokerGroupName
  queueId
  mode
  owner
  waiters
  leaseEpoch
  consumeMode
  isOrdered
  position
  windowEnd
  maxOffset
  windowSize
  isFull
  unfinishedCount
  acquiredCount
  returnedCount
  oldestAcquiredMs
  oldestDeliveredMs
  attemptCountMax
  countedMs
  deliveredCount
  redeliveredCount
  acceptedCount
  deadLetterCount
  discardedCount
  retriedCount
}
    `, {"fragmentName":"ShareQueueFields"}) as unknown as TypedDocumentString<ShareQueueFieldsFragment, unknown>;
export const ShareMessageFieldsFragmentDoc = new TypedDocumentString(`
    fragment ShareMessageFields on ShareMessage {
  offset
  holder
  clientId
  acquiredMs
  deliveredMs
  dueInMs
  deliveryCount
}
    `, {"fragmentName":"ShareMessageFields"}) as unknown as TypedDocumentString<ShareMessageFieldsFragment, unknown>;
export const ShareIncidentFieldsFragmentDoc = new TypedDocumentString(`
    fragment ShareIncidentFields on ShareIncident {
  id
  broker
  kind
  explanation
  epoch
  position
  topic
  queueId
  consumerGroupName
  reason
  outcome
  openedAt
  resolvedAt
  resolution
}
    `, {"fragmentName":"ShareIncidentFields"}) as unknown as TypedDocumentString<ShareIncidentFieldsFragment, unknown>;
export const TimerSpanFieldsFragmentDoc = new TypedDocumentString(`
    fragment TimerSpanFields on TimerSpan {
  startsAt
  waitingCount
}
    `, {"fragmentName":"TimerSpanFields"}) as unknown as TypedDocumentString<TimerSpanFieldsFragment, unknown>;
export const BrokerTimersFieldsFragmentDoc = new TypedDocumentString(`
    fragment BrokerTimersFields on BrokerTimers {
  clusterName
  brokerGroupName
  brokerAddress
  waitingCount
  overdueCount
  heldCount
  rolledCount
  untakenCount
  behindMs
  hindrance
  firstDueAt
  lastDueAt
  topicCount
  minutes {
    ...TimerSpanFields
  }
  hours {
    ...TimerSpanFields
  }
  topics {
    topic
    waitingCount
  }
}
    fragment TimerSpanFields on TimerSpan {
  startsAt
  waitingCount
}`, {"fragmentName":"BrokerTimersFields"}) as unknown as TypedDocumentString<BrokerTimersFieldsFragment, unknown>;
export const QueueChangeFieldsFragmentDoc = new TypedDocumentString(`
    fragment QueueChangeFields on QueueChange {
  stale
  moves {
    globalId
    sourceName
    destinationName
    step
    queueId
  }
}
    `, {"fragmentName":"QueueChangeFields"}) as unknown as TypedDocumentString<QueueChangeFieldsFragment, unknown>;
export const ProtectionFieldsFragmentDoc = new TypedDocumentString(`
    fragment ProtectionFields on Protection {
  protectedBy
  protectedAt
  reason
}
    `, {"fragmentName":"ProtectionFields"}) as unknown as TypedDocumentString<ProtectionFieldsFragment, unknown>;
export const SampleFieldsFragmentDoc = new TypedDocumentString(`
    fragment SampleFields on BrokerSample {
  clusterName
  brokerGroupName
  brokerName
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
  name
  ownId
  brokerId
  brokerGroupName
  role
  state
  address
  haAddress
  registeredAt
  isRegistered
  lastHeartbeatAt
  latestSample {
    ...SampleFields
  }
}
    fragment SampleFields on BrokerSample {
  clusterName
  brokerGroupName
  brokerName
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
export const TransactionFieldsFragmentDoc = new TypedDocumentString(`
    fragment TransactionFields on PendingTransaction {
  clusterName
  brokerGroupName
  brokerAddress
  transactionId
  producerGroupName
  topic
  queueId
  ageMs
  checkCount
  producerCount
  messageId
}
    `, {"fragmentName":"TransactionFields"}) as unknown as TypedDocumentString<TransactionFieldsFragment, unknown>;
export const UsersDocument = new TypedDocumentString(`
    query Users($first: Int!, $after: String) {
  users(first: $first, after: $after) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...UserFields
    }
  }
}
    fragment UserFields on User {
  name
  role
  clusterPatterns
  createdAt
  disabledAt
  passwordExpiresAt
  version
}`) as unknown as TypedDocumentString<UsersQuery, UsersQueryVariables>;
export const OpenSessionsDocument = new TypedDocumentString(`
    query OpenSessions($first: Int!, $after: String, $userName: String) {
  sessions(first: $first, after: $after, userName: $userName) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      id
      userName
      source
      userAgent
      createdAt
      lastUsedAt
      expiresAt
      isOwn
    }
  }
}
    `) as unknown as TypedDocumentString<OpenSessionsQuery, OpenSessionsQueryVariables>;
export const ApiTokensDocument = new TypedDocumentString(`
    query ApiTokens($first: Int!, $after: String, $userName: String) {
  apiTokens(first: $first, after: $after, userName: $userName) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...TokenFields
    }
  }
}
    fragment TokenFields on ApiToken {
  id
  userName
  name
  prefix
  role
  isReadOnly
  clusterPatterns
  createdAt
  expiresAt
  lastUsedAt
  lastUsedFrom
}`) as unknown as TypedDocumentString<ApiTokensQuery, ApiTokensQueryVariables>;
export const AddUserDocument = new TypedDocumentString(`
    mutation AddUser($name: String!, $role: Role!, $clusterPatterns: [String!]) {
  invited: addUser(name: $name, role: $role, clusterPatterns: $clusterPatterns) {
    password
    user {
      ...UserFields
    }
  }
}
    fragment UserFields on User {
  name
  role
  clusterPatterns
  createdAt
  disabledAt
  passwordExpiresAt
  version
}`) as unknown as TypedDocumentString<AddUserMutation, AddUserMutationVariables>;
export const ResetPasswordDocument = new TypedDocumentString(`
    mutation ResetPassword($name: String!) {
  invited: resetPassword(name: $name) {
    password
    user {
      ...UserFields
    }
  }
}
    fragment UserFields on User {
  name
  role
  clusterPatterns
  createdAt
  disabledAt
  passwordExpiresAt
  version
}`) as unknown as TypedDocumentString<ResetPasswordMutation, ResetPasswordMutationVariables>;
export const ChangeUserRoleDocument = new TypedDocumentString(`
    mutation ChangeUserRole($name: String!, $role: Role!, $reason: String, $clusterPatterns: [String!], $version: String) {
  user: changeUserRole(
    name: $name
    role: $role
    reason: $reason
    clusterPatterns: $clusterPatterns
    version: $version
  ) {
    ...UserFields
  }
}
    fragment UserFields on User {
  name
  role
  clusterPatterns
  createdAt
  disabledAt
  passwordExpiresAt
  version
}`) as unknown as TypedDocumentString<ChangeUserRoleMutation, ChangeUserRoleMutationVariables>;
export const DisableUserDocument = new TypedDocumentString(`
    mutation DisableUser($name: String!, $reason: String) {
  user: disableUser(name: $name, reason: $reason) {
    ...UserFields
  }
}
    fragment UserFields on User {
  name
  role
  clusterPatterns
  createdAt
  disabledAt
  passwordExpiresAt
  version
}`) as unknown as TypedDocumentString<DisableUserMutation, DisableUserMutationVariables>;
export const EnableUserDocument = new TypedDocumentString(`
    mutation EnableUser($name: String!, $reason: String) {
  user: enableUser(name: $name, reason: $reason) {
    ...UserFields
  }
}
    fragment UserFields on User {
  name
  role
  clusterPatterns
  createdAt
  disabledAt
  passwordExpiresAt
  version
}`) as unknown as TypedDocumentString<EnableUserMutation, EnableUserMutationVariables>;
export const EndSessionDocument = new TypedDocumentString(`
    mutation EndSession($id: ID!) {
  endSession(id: $id)
}
    `) as unknown as TypedDocumentString<EndSessionMutation, EndSessionMutationVariables>;
export const EndSessionsDocument = new TypedDocumentString(`
    mutation EndSessions($userName: String) {
  endSessions(userName: $userName)
}
    `) as unknown as TypedDocumentString<EndSessionsMutation, EndSessionsMutationVariables>;
export const CreateApiTokenDocument = new TypedDocumentString(`
    mutation CreateApiToken($wanted: ApiTokenInput!) {
  created: createApiToken(wanted: $wanted) {
    secret
    token {
      ...TokenFields
    }
  }
}
    fragment TokenFields on ApiToken {
  id
  userName
  name
  prefix
  role
  isReadOnly
  clusterPatterns
  createdAt
  expiresAt
  lastUsedAt
  lastUsedFrom
}`) as unknown as TypedDocumentString<CreateApiTokenMutation, CreateApiTokenMutationVariables>;
export const RevokeApiTokenDocument = new TypedDocumentString(`
    mutation RevokeApiToken($id: ID!) {
  revokeApiToken(id: $id)
}
    `) as unknown as TypedDocumentString<RevokeApiTokenMutation, RevokeApiTokenMutationVariables>;
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
export const BrokerPageDocument = new TypedDocumentString(`
    query BrokerPage($clusterName: String!, $brokerName: String!) {
  broker(clusterName: $clusterName, brokerName: $brokerName) {
    ...BrokerFields
    protection {
      ...ProtectionFields
    }
    replica {
      brokerId
      epoch
      isInSync
      isAlive
    }
  }
}
    fragment ProtectionFields on Protection {
  protectedBy
  protectedAt
  reason
}
fragment BrokerFields on Broker {
  id
  name
  ownId
  brokerId
  brokerGroupName
  role
  state
  address
  haAddress
  registeredAt
  isRegistered
  lastHeartbeatAt
  latestSample {
    ...SampleFields
  }
}
fragment SampleFields on BrokerSample {
  clusterName
  brokerGroupName
  brokerName
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
}`) as unknown as TypedDocumentString<BrokerPageQuery, BrokerPageQueryVariables>;
export const BrokerConfigDocument = new TypedDocumentString(`
    query BrokerConfig($clusterName: String!, $brokerGroupName: String!, $brokerId: Int64!) {
  brokerConfig(
    clusterName: $clusterName
    brokerGroupName: $brokerGroupName
    brokerId: $brokerId
  ) {
    address
    properties {
      name
      type
      effect
      value
      stored
      default
      low
      high
      choices
    }
  }
}
    `) as unknown as TypedDocumentString<BrokerConfigQuery, BrokerConfigQueryVariables>;
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
  brokerName
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
export const ClientsDocument = new TypedDocumentString(`
    query Clients($clusterName: String!, $first: Int!, $after: String, $search: String, $group: String, $role: ClientRole) {
  clients(
    clusterName: $clusterName
    first: $first
    after: $after
    search: $search
    group: $group
    role: $role
  ) {
    totalCount
    observedAt
    pageInfo {
      hasNextPage
      endCursor
    }
    unknown {
      ...UnknownBrokerFields
    }
    nodes {
      ...ClientFields
    }
  }
}
    fragment ClientFields on Client {
  clientId
  roles
  producerGroups
  consumerGroups
  heardMs
  connections {
    brokerName
    brokerAddress
    address
    language
    version
    versionName
    heardMs
    producerGroups
    consumerGroups
  }
}
fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}`) as unknown as TypedDocumentString<ClientsQuery, ClientsQueryVariables>;
export const ClientDocument = new TypedDocumentString(`
    query Client($clusterName: String!, $clientId: String!) {
  client(clusterName: $clusterName, clientId: $clientId) {
    client {
      ...ClientFields
    }
    unknown {
      ...UnknownBrokerFields
    }
  }
}
    fragment ClientFields on Client {
  clientId
  roles
  producerGroups
  consumerGroups
  heardMs
  connections {
    brokerName
    brokerAddress
    address
    language
    version
    versionName
    heardMs
    producerGroups
    consumerGroups
  }
}
fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}`) as unknown as TypedDocumentString<ClientQuery, ClientQueryVariables>;
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
export const ConsumerGroupsDocument = new TypedDocumentString(`
    query ConsumerGroups($clusterName: String!, $first: Int!, $after: String, $search: String) {
  consumerGroups(
    clusterName: $clusterName
    first: $first
    after: $after
    search: $search
  ) {
    totalCount
    observedAt
    pageInfo {
      hasNextPage
      endCursor
    }
    unknown {
      ...UnknownBrokerFields
    }
    nodes {
      name
      brokerGroupNames
      state
      brokerCountTold
      brokerCountAsked
      memberCount
      protection {
        ...ProtectionFields
      }
      lag {
        ...LagFields
      }
      retryLag {
        ...LagFields
      }
    }
  }
}
    fragment LagFields on ConsumerLag {
  messageCount
  waitingMs
  isComplete
  expiredCount
  isApplicable
}
fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
fragment ProtectionFields on Protection {
  protectedBy
  protectedAt
  reason
}`) as unknown as TypedDocumentString<ConsumerGroupsQuery, ConsumerGroupsQueryVariables>;
export const ConsumerGroupDocument = new TypedDocumentString(`
    query ConsumerGroup($clusterName: String!, $name: String!) {
  consumerGroup(clusterName: $clusterName, name: $name) {
    name
    isSystem
    protection {
      ...ProtectionFields
    }
    state
    brokerCountTold
    brokerCountAsked
    models
    deadLetterCount
    isDeadLetterCountComplete
    observedAt
    lag {
      ...LagFields
    }
    retryLag {
      ...LagFields
    }
    settings {
      brokerGroupName
      consumeEnabled
      broadcastAllowed
      isOrdered
      retryCountMax
      consumeTimeoutMinutes
      consumeFromMinEnabled
      retryQueueCount
      notifiesMembers
    }
    members {
      clientId
      address
      language
      version
      versionName
      brokerGroupNames
      addresses
      subscriptions
      messageModels
    }
    subscriptions {
      topic
      expressions
    }
    queues {
      brokerGroupName
      topic
      queueId
      kind
      committed
      begin
      end
      lag
      expiredCount
      aheadCount
      waitingMs
      consumedAt
      owner
    }
    unknown {
      ...UnknownBrokerFields
    }
  }
}
    fragment LagFields on ConsumerLag {
  messageCount
  waitingMs
  isComplete
  expiredCount
  isApplicable
}
fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
fragment ProtectionFields on Protection {
  protectedBy
  protectedAt
  reason
}`) as unknown as TypedDocumentString<ConsumerGroupQuery, ConsumerGroupQueryVariables>;
export const ContainersDocument = new TypedDocumentString(`
    query Containers($chosen: ContainerFilter!, $first: Int!, $after: String) {
  containers(chosen: $chosen, first: $first, after: $after) {
    observedAt
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...ContainerFields
    }
    unknown {
      ...UnknownBrokerFields
    }
  }
}
    fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
fragment InnerBrokerFields on InnerBroker {
  clusterName
  brokerGroupName
  name
  ownId
  isMaster
  path
  failure
}
fragment ContainerFields on Container {
  address
  whyUnknown
  brokers {
    ...InnerBrokerFields
  }
}`) as unknown as TypedDocumentString<ContainersQuery, ContainersQueryVariables>;
export const FindingsDocument = new TypedDocumentString(`
    query Findings($clusterName: String!, $first: Int!, $after: String, $isOpen: Boolean) {
  findings(
    clusterName: $clusterName
    first: $first
    after: $after
    isOpen: $isOpen
  ) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      id
      code
      severity
      title
      clusterName
      subject
      brokerGroupName
      topicName
      sentence
      evidence
      advice
      since
      openedAt
      closedAt
    }
  }
}
    `) as unknown as TypedDocumentString<FindingsQuery, FindingsQueryVariables>;
export const OpenFindingsDocument = new TypedDocumentString(`
    query OpenFindings($clusterName: String!, $first: Int!) {
  findings(clusterName: $clusterName, first: $first, isOpen: true) {
    totalCount
    nodes {
      severity
    }
  }
}
    `) as unknown as TypedDocumentString<OpenFindingsQuery, OpenFindingsQueryVariables>;
export const BrokerGroupMembersDocument = new TypedDocumentString(`
    query BrokerGroupMembers($clusterName: String!, $brokerGroupName: String!) {
  brokerGroupMembers(clusterName: $clusterName, brokerGroupName: $brokerGroupName) {
    mode
    actingBroker
    actingSince
    actingReason
    members {
      ...GroupMemberFields
    }
  }
}
    fragment GroupMemberFields on BrokerGroupMember {
  name
  address
  phase
  explanation
  nextStep
  lastHeartbeatAt
  aliveCount
  offsetVersion
  lockCount
}`) as unknown as TypedDocumentString<BrokerGroupMembersQuery, BrokerGroupMembersQueryVariables>;
export const LocksDocument = new TypedDocumentString(`
    query Locks($chosen: LockFilter!, $first: Int!, $after: String) {
  locks(chosen: $chosen, first: $first, after: $after) {
    observedAt
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...LockFields
    }
    unknown {
      ...UnknownBrokerFields
    }
  }
}
    fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
fragment LockFields on QueueLock {
  clusterName
  consumerGroupName
  topic
  brokerGroupName
  brokerAddress
  queueId
  isLogical
  physicalQueueId
  clientId
  holder
  heldMs
  renewedMs
  expiresInMs
  heardMs
}`) as unknown as TypedDocumentString<LocksQuery, LocksQueryVariables>;
export const LeasesDocument = new TypedDocumentString(`
    query Leases($clusterName: String!, $first: Int!, $after: String) {
  leases(clusterName: $clusterName, first: $first, after: $after) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      clusterName
      brokerGroupName
      masterId
      masterAddress
      masterEpoch
      policy
      isMasterAlive
      endsAt
    }
  }
}
    `) as unknown as TypedDocumentString<LeasesQuery, LeasesQueryVariables>;
export const OperationLeasesDocument = new TypedDocumentString(`
    query OperationLeases($clusterName: String!, $first: Int!) {
  operationLeases(clusterName: $clusterName, first: $first) {
    totalCount
    nodes {
      operationId
      kind
      target
      step
      fence
      renewedAt
      endsAt
    }
  }
}
    `) as unknown as TypedDocumentString<OperationLeasesQuery, OperationLeasesQueryVariables>;
export const QueueExplanationsDocument = new TypedDocumentString(`
    query QueueExplanations($clusterName: String!, $consumerGroupName: String!, $topicName: String!, $brokerGroupName: String, $queueId: Int) {
  queueExplanations(
    clusterName: $clusterName
    consumerGroupName: $consumerGroupName
    topicName: $topicName
    brokerGroupName: $brokerGroupName
    queueId: $queueId
  ) {
    brokerGroupName
    queueId
    isPaused
    cause
    sentence
    evidence
    lag
  }
}
    `) as unknown as TypedDocumentString<QueueExplanationsQuery, QueueExplanationsQueryVariables>;
export const MessagesDocument = new TypedDocumentString(`
    query Messages($clusterName: String!, $topicName: String!, $first: Int!, $after: String, $within: MessageRange) {
  messages(
    clusterName: $clusterName
    topicName: $topicName
    first: $first
    after: $after
    within: $within
  ) {
    observedAt
    pageInfo {
      hasNextPage
      endCursor
    }
    unknown {
      ...UnknownBrokerFields
    }
    nodes {
      ...MessageFields
    }
  }
}
    fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
fragment MessageFields on Message {
  messageId
  uniqueKey
  topic
  brokerGroupName
  queueId
  queueOffset
  storedAt
  bodyBytes
  keys
  tags
}`) as unknown as TypedDocumentString<MessagesQuery, MessagesQueryVariables>;
export const DeadLettersDocument = new TypedDocumentString(`
    query DeadLetters($clusterName: String!, $topicName: String!, $first: Int!) {
  messages(clusterName: $clusterName, topicName: $topicName, first: $first) {
    pageInfo {
      hasNextPage
    }
    unknown {
      ...UnknownBrokerFields
    }
    nodes {
      messageId
      storedAt
      brokerGroupName
      queueOffset
      keys
      reconsumeTimes
      properties {
        name
        value
      }
    }
  }
}
    fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}`) as unknown as TypedDocumentString<DeadLettersQuery, DeadLettersQueryVariables>;
export const FoundMessagesDocument = new TypedDocumentString(`
    query FoundMessages($clusterName: String!, $topicName: String!, $key: String!, $isUnique: Boolean!) {
  foundMessages(
    clusterName: $clusterName
    topicName: $topicName
    key: $key
    isUnique: $isUnique
  ) {
    isComplete
    unknown {
      ...UnknownBrokerFields
    }
    nodes {
      ...MessageFields
    }
  }
}
    fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
fragment MessageFields on Message {
  messageId
  uniqueKey
  topic
  brokerGroupName
  queueId
  queueOffset
  storedAt
  bodyBytes
  keys
  tags
}`) as unknown as TypedDocumentString<FoundMessagesQuery, FoundMessagesQueryVariables>;
export const MessageDocument = new TypedDocumentString(`
    query Message($clusterName: String!, $messageId: String!, $topicName: String) {
  message(clusterName: $clusterName, messageId: $messageId, topicName: $topicName) {
    message {
      ...MessageFields
      logPosition
      storeHost
      bornAt
      bornHost
      reconsumeTimes
      sizeBytes
      properties {
        name
        value
      }
    }
    deliveries {
      consumerGroupCount
      nodes {
        consumerGroupName
        state
        why
      }
      unknown {
        ...UnknownBrokerFields
      }
    }
  }
}
    fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
fragment MessageFields on Message {
  messageId
  uniqueKey
  topic
  brokerGroupName
  queueId
  queueOffset
  storedAt
  bodyBytes
  keys
  tags
}`) as unknown as TypedDocumentString<MessageQuery, MessageQueryVariables>;
export const MessageBodyDocument = new TypedDocumentString(`
    query MessageBody($clusterName: String!, $messageId: String!, $topicName: String, $form: BodyForm!) {
  messageBody(
    clusterName: $clusterName
    messageId: $messageId
    topicName: $topicName
    form: $form
  ) {
    form
    content
    isCut
    storedBytes
    sizeBytes
    shownBytes
    compression
    note
  }
}
    `) as unknown as TypedDocumentString<MessageBodyQuery, MessageBodyQueryVariables>;
export const SendMessageDocument = new TypedDocumentString(`
    mutation SendMessage($message: SendMessageInput!) {
  sendMessage(message: $message) {
    state
    messageId
    uniqueKey
    brokerGroupName
    queueId
    queueOffset
    bodyBytes
    bodySha256
    doubt
  }
}
    `) as unknown as TypedDocumentString<SendMessageMutation, SendMessageMutationVariables>;
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
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
export const QueueMovesDocument = new TypedDocumentString(`
    query QueueMoves($clusterName: String!, $topicName: String!) {
  logicalQueues(clusterName: $clusterName, topicName: $topicName) {
    change {
      id
      ...QueueChangeFields
    }
  }
}
    fragment QueueChangeFields on QueueChange {
  stale
  moves {
    globalId
    sourceName
    destinationName
    step
    queueId
  }
}`) as unknown as TypedDocumentString<QueueMovesQuery, QueueMovesQueryVariables>;
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
}`) as unknown as TypedDocumentString<ConfirmOperationMutation, ConfirmOperationMutationVariables>;
export const ApproveOperationDocument = new TypedDocumentString(`
    mutation ApproveOperation($id: ID!, $reason: String!, $key: String!) {
  operation: approveOperation(id: $id, reason: $reason, key: $key) {
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
}`) as unknown as TypedDocumentString<ApproveOperationMutation, ApproveOperationMutationVariables>;
export const DeclineOperationDocument = new TypedDocumentString(`
    mutation DeclineOperation($id: ID!, $reason: String!, $key: String!) {
  operation: declineOperation(id: $id, reason: $reason, key: $key) {
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
}`) as unknown as TypedDocumentString<DeclineOperationMutation, DeclineOperationMutationVariables>;
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
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
    riskLabel
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
  reviewedBy
  reviewReason
  plannedAt
  expiresAt
  confirmedAt
  notBefore
  endedAt
  undoes
  actions
  whyNotUndo
  parameters
}`) as unknown as TypedDocumentString<ReplanOperationMutation, ReplanOperationMutationVariables>;
export const RatesDocument = new TypedDocumentString(`
    query Rates($minutes: Int!) {
  rates(minutes: $minutes) {
    observedAt
    messagesInPerSecond
    messagesOutPerSecond
  }
}
    `) as unknown as TypedDocumentString<RatesQuery, RatesQueryVariables>;
export const HealthDocument = new TypedDocumentString(`
    query Health($clusterName: String!) {
  health(clusterName: $clusterName) {
    verdict
    sentence
    nextFailure
    groupCount
    replicaCount
    aliveCount
    observedAt
    troubled {
      ...GroupHealthFields
    }
  }
}
    fragment GroupHealthFields on GroupHealth {
  brokerGroupName
  verdict
  sentence
  nextFailure
  hasWriter
  writerFault
}`) as unknown as TypedDocumentString<HealthQuery, HealthQueryVariables>;
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
      brokerName
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
  isCordoned
  protocolVersion
}
fragment ReplicaGroupFields on ReplicaGroup {
  clusterName
  name
  leasePolicy
  leaseLeftMs
  preferredId
  confirmedEpoch
  confirmedPosition
  masterId
  masterEpoch
  protocolVersion
  versionLimit
  isMasterAlive
  syncStateSet
  syncStateSetEpoch
  replicas {
    ...ReplicaFields
  }
}`) as unknown as TypedDocumentString<ReplicaGroupsQuery, ReplicaGroupsQueryVariables>;
export const ReplicaGroupDocument = new TypedDocumentString(`
    query ReplicaGroup($clusterName: String!, $brokerGroupName: String!) {
  cluster(name: $clusterName) {
    id
    replicaGroup(name: $brokerGroupName) {
      ...ReplicaGroupFields
      health {
        ...GroupHealthFields
      }
      election {
        ...ElectionFields
      }
    }
  }
}
    fragment GroupHealthFields on GroupHealth {
  brokerGroupName
  verdict
  sentence
  nextFailure
  hasWriter
  writerFault
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
  isCordoned
  protocolVersion
}
fragment ReplicaGroupFields on ReplicaGroup {
  clusterName
  name
  leasePolicy
  leaseLeftMs
  preferredId
  confirmedEpoch
  confirmedPosition
  masterId
  masterEpoch
  protocolVersion
  versionLimit
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
  warning
  candidates {
    brokerId
    verdict
    reason
  }
}`) as unknown as TypedDocumentString<ReplicaGroupQuery, ReplicaGroupQueryVariables>;
export const DesignatedElectionDocument = new TypedDocumentString(`
    query DesignatedElection($clusterName: String!, $brokerGroupName: String!, $brokerId: Int64!) {
  cluster(name: $clusterName) {
    id
    replicaGroup(name: $brokerGroupName) {
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
  warning
  candidates {
    brokerId
    verdict
    reason
  }
}`) as unknown as TypedDocumentString<DesignatedElectionQuery, DesignatedElectionQueryVariables>;
export const GroupChangesDocument = new TypedDocumentString(`
    query GroupChanges($clusterName: String!, $brokerGroupName: String!, $first: Int!, $after: String) {
  cluster(name: $clusterName) {
    id
    replicaGroup(name: $brokerGroupName) {
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
  warning
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
    query GroupEpochs($clusterName: String!, $brokerGroupName: String!) {
  cluster(name: $clusterName) {
    id
    replicaGroup(name: $brokerGroupName) {
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
export const GroupObstaclesDocument = new TypedDocumentString(`
    query GroupObstacles($clusterName: String!, $brokerGroupName: String!) {
  cluster(name: $clusterName) {
    id
    replicaGroup(name: $brokerGroupName) {
      lag {
        replicas {
          brokerId
          obstacle
        }
      }
    }
  }
}
    `) as unknown as TypedDocumentString<GroupObstaclesQuery, GroupObstaclesQueryVariables>;
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
  brokerGroupName
  brokerId
  address
  epoch
  maxOffset
  masterId
  hasCode
  heardAt
}`) as unknown as TypedDocumentString<AdoptionCandidatesQuery, AdoptionCandidatesQueryVariables>;
export const ShareQueuesDocument = new TypedDocumentString(`
    query ShareQueues($chosen: ShareQueueFilter!, $first: Int!, $after: String) {
  shareQueues(chosen: $chosen, first: $first, after: $after) {
    observedAt
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...ShareQueueFields
    }
    unknown {
      ...UnknownBrokerFields
    }
  }
}
    fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
fragment ShareQueueFields on ShareQueue {
  clusterName
  consumerGroupName
  topic
  brokerGroupName
  queueId
  mode
  owner
  waiters
  leaseEpoch
  consumeMode
  isOrdered
  position
  windowEnd
  maxOffset
  windowSize
  isFull
  unfinishedCount
  acquiredCount
  returnedCount
  oldestAcquiredMs
  oldestDeliveredMs
  attemptCountMax
  countedMs
  deliveredCount
  redeliveredCount
  acceptedCount
  deadLetterCount
  discardedCount
  retriedCount
}`) as unknown as TypedDocumentString<ShareQueuesQuery, ShareQueuesQueryVariables>;
export const ShareQueueDocument = new TypedDocumentString(`
    query ShareQueue($clusterName: String!, $brokerGroupName: String!, $topic: String!, $queueId: Int!, $consumerGroupName: String!) {
  shareQueue(
    clusterName: $clusterName
    brokerGroupName: $brokerGroupName
    topic: $topic
    queueId: $queueId
    consumerGroupName: $consumerGroupName
  ) {
    observedAt
    queue {
      ...ShareQueueFields
    }
    messages {
      ...ShareMessageFields
    }
  }
}
    fragment ShareQueueFields on ShareQueue {
  clusterName
  consumerGroupName
  topic
  brokerGroupName
  queueId
  mode
  owner
  waiters
  leaseEpoch
  consumeMode
  isOrdered
  position
  windowEnd
  maxOffset
  windowSize
  isFull
  unfinishedCount
  acquiredCount
  returnedCount
  oldestAcquiredMs
  oldestDeliveredMs
  attemptCountMax
  countedMs
  deliveredCount
  redeliveredCount
  acceptedCount
  deadLetterCount
  discardedCount
  retriedCount
}
fragment ShareMessageFields on ShareMessage {
  offset
  holder
  clientId
  acquiredMs
  deliveredMs
  dueInMs
  deliveryCount
}`) as unknown as TypedDocumentString<ShareQueueQuery, ShareQueueQueryVariables>;
export const ShareIncidentsDocument = new TypedDocumentString(`
    query ShareIncidents($chosen: ShareIncidentFilter!, $first: Int!) {
  shareIncidents(chosen: $chosen, first: $first) {
    totalCount
    nodes {
      ...ShareIncidentFields
    }
  }
}
    fragment ShareIncidentFields on ShareIncident {
  id
  broker
  kind
  explanation
  epoch
  position
  topic
  queueId
  consumerGroupName
  reason
  outcome
  openedAt
  resolvedAt
  resolution
}`) as unknown as TypedDocumentString<ShareIncidentsQuery, ShareIncidentsQueryVariables>;
export const TimersDocument = new TypedDocumentString(`
    query Timers($chosen: TimerFilter!, $first: Int!, $after: String) {
  timers(chosen: $chosen, first: $first, after: $after) {
    observedAt
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...BrokerTimersFields
    }
    unknown {
      ...UnknownBrokerFields
    }
  }
}
    fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
fragment TimerSpanFields on TimerSpan {
  startsAt
  waitingCount
}
fragment BrokerTimersFields on BrokerTimers {
  clusterName
  brokerGroupName
  brokerAddress
  waitingCount
  overdueCount
  heldCount
  rolledCount
  untakenCount
  behindMs
  hindrance
  firstDueAt
  lastDueAt
  topicCount
  minutes {
    ...TimerSpanFields
  }
  hours {
    ...TimerSpanFields
  }
  topics {
    topic
    waitingCount
  }
}`) as unknown as TypedDocumentString<TimersQuery, TimersQueryVariables>;
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
        protection {
          ...ProtectionFields
        }
        messagesInPerSecond
        bytesInPerSecond
        placements {
          brokerGroupName
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
    fragment ProtectionFields on Protection {
  protectedBy
  protectedAt
  reason
}`) as unknown as TypedDocumentString<TopicsQuery, TopicsQueryVariables>;
export const TopicDocument = new TypedDocumentString(`
    query Topic($clusterName: String!, $topicName: String!) {
  cluster(name: $clusterName) {
    id
    topic(name: $topicName) {
      id
      name
      kind
      clusterName
      protection {
        ...ProtectionFields
      }
      messagesInPerSecond
      bytesInPerSecond
      placements {
        brokerGroupName
        readQueueCount
        writeQueueCount
        readable
        writable
        inherited
        isOrdered
        messageType
        shareMode
        isTimeShared
        isReplicated
      }
      queues {
        brokerGroupName
        queueId
        minOffset
        maxOffset
        observedAt
      }
      route {
        brokerGroupName
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
    fragment ProtectionFields on Protection {
  protectedBy
  protectedAt
  reason
}`) as unknown as TypedDocumentString<TopicQuery, TopicQueryVariables>;
export const LogicalQueuesDocument = new TypedDocumentString(`
    query LogicalQueues($clusterName: String!, $topicName: String!) {
  logicalQueues(clusterName: $clusterName, topicName: $topicName) {
    epoch
    change {
      id
      ...QueueChangeFields
    }
    queues {
      globalId
      leaderName
      sealed
      maxOffset
      segments {
        generation
        brokerGroupName
        queueId
        status
        logicalStart
        logicalEnd
        physicalStart
        physicalEnd
      }
    }
  }
}
    fragment QueueChangeFields on QueueChange {
  stale
  moves {
    globalId
    sourceName
    destinationName
    step
    queueId
  }
}`) as unknown as TypedDocumentString<LogicalQueuesQuery, LogicalQueuesQueryVariables>;
export const StaticTopicsDocument = new TypedDocumentString(`
    query StaticTopics($clusterName: String!, $brokerGroupName: String, $first: Int!) {
  staticTopics(
    clusterName: $clusterName
    brokerGroupName: $brokerGroupName
    first: $first
  ) {
    totalCount
    nodes {
      name
      queueCount
      changeId
      shares {
        brokerGroupName
        ledCount
        segmentCount
      }
    }
  }
}
    `) as unknown as TypedDocumentString<StaticTopicsQuery, StaticTopicsQueryVariables>;
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
        actingBroker
        brokers {
          ...BrokerFields
        }
      }
    }
  }
}
    fragment BrokerFields on Broker {
  id
  name
  ownId
  brokerId
  brokerGroupName
  role
  state
  address
  haAddress
  registeredAt
  isRegistered
  lastHeartbeatAt
  latestSample {
    ...SampleFields
  }
}
fragment SampleFields on BrokerSample {
  clusterName
  brokerGroupName
  brokerName
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
export const TransactionsDocument = new TypedDocumentString(`
    query Transactions($chosen: TransactionFilter!, $first: Int!, $after: String) {
  transactions(chosen: $chosen, first: $first, after: $after) {
    observedAt
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...TransactionFields
    }
    unknown {
      ...UnknownBrokerFields
    }
  }
}
    fragment UnknownBrokerFields on UnknownBroker {
  name
  address
  why
}
fragment TransactionFields on PendingTransaction {
  clusterName
  brokerGroupName
  brokerAddress
  transactionId
  producerGroupName
  topic
  queueId
  ageMs
  checkCount
  producerCount
  messageId
}`) as unknown as TypedDocumentString<TransactionsQuery, TransactionsQueryVariables>;
export const EventPositionDocument = new TypedDocumentString(`
    query EventPosition {
  events(first: 1) {
    newestNumber
  }
}
    `) as unknown as TypedDocumentString<EventPositionQuery, EventPositionQueryVariables>;
export const EventsDocument = new TypedDocumentString(`
    subscription Events($after: Int64) {
  events(after: $after) {
    number
    kind
    clusterName
    subject
    brokerGroupName
    operationId
    details
  }
}
    `) as unknown as TypedDocumentString<EventsSubscription, EventsSubscriptionVariables>;
export const SamplesDocument = new TypedDocumentString(`
    subscription Samples {
  samples {
    ...SampleFields
  }
}
    fragment SampleFields on BrokerSample {
  clusterName
  brokerGroupName
  brokerName
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