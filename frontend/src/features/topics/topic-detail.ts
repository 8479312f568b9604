import type { MoveStep } from '@/components/queue-moves';
import type { LogicalQueue as DrawnQueue } from '@/components/segments';
import type { LogicalQueuesQuery, StaticTopicsQuery, TopicQuery } from '@/gql/operations';

export type TopicDetail = NonNullable<NonNullable<TopicQuery['cluster']>['topic']>;
type LogicalQueues = NonNullable<LogicalQueuesQuery['logicalQueues']>;

/** After these steps the place of a move is reserved, and is no segment yet. */
const reservedSteps: ReadonlySet<MoveStep> = new Set(['PREPARED', 'SEALED']);

type Queue = TopicDetail['queues'][number];

/** A queue with what is derived from its ends; start and end are shares of the longest queue. */
export type QueueRow = Queue & {
  messageCount: string | null;
  start: number | null;
  end: number | null;
};

export function queueRows(queues: Queue[]): QueueRow[] {
  const ends = queues.map((queue) => Number(queue.maxOffset ?? 0));
  const longest = Math.max(1, ...ends);
  return queues.map((queue) => {
    const { minOffset, maxOffset } = queue;
    if (minOffset === null || maxOffset === null) {
      return { ...queue, messageCount: null, start: null, end: null };
    }
    return {
      ...queue,
      messageCount: heldCount(minOffset, maxOffset),
      start: Number(minOffset) / longest,
      end: Number(maxOffset) / longest,
    };
  });
}

export function compareOffsets(left: string | null, right: string | null): number {
  const difference = BigInt(left ?? 0) - BigInt(right ?? 0);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The messages held in all queues, and how many queues could be counted. */
export function messagesHeld(rows: QueueRow[]): { total: string | null; counted: number } {
  const known = rows.flatMap((row) =>
    row.messageCount === null ? [] : [BigInt(row.messageCount)],
  );
  const total = known.length > 0 ? String(known.reduce((sum, count) => sum + count, 0n)) : null;
  return { total, counted: known.length };
}

const readableBit = 4;
const writableBit = 2;

export function permissionWord(
  permissions: number,
): 'readWrite' | 'readOnly' | 'writeOnly' | 'none' {
  const readable = (permissions & readableBit) !== 0;
  const writable = (permissions & writableBit) !== 0;
  if (readable && writable) return 'readWrite';
  if (readable) return 'readOnly';
  return writable ? 'writeOnly' : 'none';
}

/** How many messages a queue holds; a queue with a reported begin beyond its end holds none. */
function heldCount(minOffset: string, maxOffset: string): string {
  const held = BigInt(maxOffset) - BigInt(minOffset);
  return String(held > 0n ? held : 0n);
}

/** The logical queues as they are drawn: with the place that a running move has reserved. */
export function drawnQueues({ queues, change }: LogicalQueues): DrawnQueue[] {
  const moves = new Map(change?.moves.map((move) => [move.globalId, move]));
  return queues.map((queue) => {
    const move = moves.get(queue.globalId);
    if (move === undefined || move.queueId === null || !reservedSteps.has(move.step)) return queue;
    const { destinationName: brokerGroupName, queueId } = move;
    return { ...queue, reserved: { brokerGroupName, queueId } };
  });
}

type Shared = StaticTopicsQuery['staticTopics']['nodes'][number];

/** What a broker group has of a static topic. */
export function shareOf({ shares }: Shared, brokerGroupName: string) {
  return shares.find((one) => one.brokerGroupName === brokerGroupName);
}
