import type { StateTone } from '@/components/state-mark';
import type { ConsumerGroupQuery, ConsumerGroupsQuery } from '@/gql/operations';

export type ConsumerGroupRow = ConsumerGroupsQuery['consumerGroups']['nodes'][number];
export type ConsumerGroupDetail = NonNullable<ConsumerGroupQuery['consumerGroup']>;
export type ConsumerQueue = ConsumerGroupDetail['queues'][number];
export type Lag = ConsumerGroupRow['lag'];

export const stateTones: Record<ConsumerGroupRow['state'], StateTone> = {
  ACTIVE: 'good',
  INACTIVE: 'idle',
  UNKNOWN: 'unknown',
};

/** The topics whose offsets can be reset: those that the group reads, without its own retries. */
export function topicsOf(group: ConsumerGroupDetail): string[] {
  const named = group.queues.filter(({ kind }) => kind === 'NORMAL').map(({ topic }) => topic);
  return [...new Set(named)].sort();
}

/** The length of each queue's bar as a share of the longest; an unknown lag has no bar. */
export function lagShares(queues: ConsumerQueue[]): Map<string, number> {
  const most = queues.reduce((max, { lag }) => Math.max(max, Number(lag ?? 0)), 0);
  return new Map(
    queues.flatMap((queue) =>
      queue.lag === null || most === 0 ? [] : [[queueId(queue), Number(queue.lag) / most]],
    ),
  );
}

export function queueId({ topic, brokerGroupName, queueId: number }: ConsumerQueue): string {
  return `${topic}/${brokerGroupName}/${number}`;
}

/** Orders 64-bit counts, which come as texts; unknown ones last. */
export function compareCounts(left: string | null, right: string | null): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  const difference = BigInt(left) - BigInt(right);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
