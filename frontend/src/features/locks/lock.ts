import type { StateTone } from '@/components/state-mark';
import type { LockFieldsFragment, LockHolder, QueueExplanationsQuery } from '@/gql/operations';

export type Lock = LockFieldsFragment;
export type Explanation = QueueExplanationsQuery['queueExplanations'][number];

export const lockHolders: readonly LockHolder[] = ['CONNECTED', 'GONE'];

/** After how long a lock ends that its client does not renew. */
export const lockLifeMs = 60_000;

export function lockId(lock: Lock): string {
  const { brokerAddress, consumerGroupName, topic, queueId } = lock;
  return [brokerAddress, consumerGroupName, topic, queueId].join(' ');
}

/** The key of the words for where the queue of a lock is. */
export function placeWords({ isLogical, physicalQueueId }: Lock): string {
  if (!isLogical) return 'locks.at';
  return physicalQueueId === null ? 'locks.logicalAt' : 'locks.logicalIn';
}

export function holderTone(holder: LockHolder): StateTone {
  return holder === 'GONE' ? 'bad' : 'good';
}

/** How long a reported span is now: it has grown, or with `leftMs` run out, since the report. */
export function agedMs(reportedMs: string, observedAt: string, nowMs: number): number {
  return Number(reportedMs) + Math.max(0, nowMs - Date.parse(observedAt));
}

export function leftMs(reportedMs: string, observedAt: string, nowMs: number): number {
  return Math.max(0, Number(reportedMs) - Math.max(0, nowMs - Date.parse(observedAt)));
}

/** Whether a queue stands still is yes, no, or unknown (D21). */
export function pauseTone({ isPaused, cause }: Pick<Explanation, 'isPaused' | 'cause'>): StateTone {
  if (isPaused === null) return 'unknown';
  if (isPaused) return 'bad';
  return cause === 'NOTHING_TO_DO' ? 'idle' : 'good';
}
