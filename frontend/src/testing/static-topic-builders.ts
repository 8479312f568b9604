import type { LogicalQueuesQuery, QueueChangeFieldsFragment } from '@/gql/operations';
import type { Answers } from './control-plane';

type LogicalQueues = NonNullable<LogicalQueuesQuery['logicalQueues']>;
type Queue = LogicalQueues['queues'][number];
type Segment = Queue['segments'][number];
type Move = QueueChangeFieldsFragment['moves'][number];

/** Valid by default: the only segment of a queue, which takes its messages. */
export function aSegment(change: Partial<Segment> = {}): Segment {
  return {
    generation: 0,
    brokerGroupName: 'broker-a',
    queueId: 0,
    status: 'NORMAL',
    logicalStart: '0',
    logicalEnd: null,
    physicalStart: '0',
    physicalEnd: null,
    ...change,
  };
}

export function aLogicalQueue(globalId: number, change: Partial<Queue> = {}): Queue {
  return {
    globalId,
    leaderName: 'broker-a',
    sealed: false,
    maxOffset: '42',
    segments: [aSegment({ queueId: globalId })],
    ...change,
  };
}

export function logicalQueues(change: Partial<LogicalQueues> = {}): LogicalQueuesQuery {
  return {
    logicalQueues: {
      epoch: '1760000000000',
      change: null,
      queues: [0, 1, 2, 3].map((globalId) => aLogicalQueue(globalId)),
      ...change,
    },
  };
}

export function aMove(globalId: number, change: Partial<Move> = {}): Move {
  return {
    globalId,
    sourceName: 'broker-a',
    destinationName: 'broker-b',
    step: 'PLANNED',
    queueId: null,
    ...change,
  };
}

/** A segment as the facts of a plan hold it. */
export const drawnSegment = {
  global_id: 3,
  generation: 0,
  broker_group_name: 'broker-a',
  queue_id: 1,
  status: 'normal',
  logical_start: '0',
  logical_end: null as string | null,
  physical_start: '7' as string | null,
  physical_end: null as string | null,
};

/** A cluster without static topics. */
export const staticTopicAnswers: Answers = {
  LogicalQueues: () => ({ logicalQueues: null }),
  QueueMoves: () => ({ logicalQueues: null }),
  StaticTopics: () => ({ staticTopics: { totalCount: 0, nodes: [] } }),
};
