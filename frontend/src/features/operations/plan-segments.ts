import type { LogicalQueue, Segment } from '@/components/segments';
import { type Fields, isFields } from './values';

/** A segment as the facts of a plan hold it. */
type Drawn = {
  global_id: number;
  generation: number;
  broker_group_name: string;
  queue_id: number;
  logical_start: string;
  logical_end: string | null;
};

export type PlanSegments = { before: LogicalQueue[]; after: LogicalQueue[] };

/** The logical queues that a plan changes, and the facts besides; a plan may change none. */
export function segmentsApart(facts: unknown): { segments: PlanSegments | null; rest: Fields } {
  const { segments, ...rest } = isFields(facts) ? facts : {};
  if (!isFields(segments)) return { segments: null, rest };
  const { before, after } = segments as { before: Drawn[]; after: Drawn[] };
  return { segments: { before: queuesOf(before), after: queuesOf(after) }, rest };
}

function queuesOf(drawn: Drawn[]): LogicalQueue[] {
  const ids = [...new Set(drawn.map((one) => one.global_id))];
  return ids.map((globalId) => {
    const segments = drawn.filter((one) => one.global_id === globalId).map(segmentOf);
    const leaderName = segments.at(-1)?.brokerGroupName ?? null;
    return { globalId, leaderName, sealed: false, maxOffset: null, segments };
  });
}

function segmentOf(one: Drawn): Segment {
  return {
    generation: one.generation,
    brokerGroupName: one.broker_group_name,
    queueId: one.queue_id,
    status: one.logical_end === null ? 'NORMAL' : 'READ_ONLY',
    logicalStart: one.logical_start,
    logicalEnd: one.logical_end,
    physicalStart: null,
    physicalEnd: null,
  };
}
