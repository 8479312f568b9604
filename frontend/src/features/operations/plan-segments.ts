import type { LogicalQueue, Segment } from '@/components/segments';
import { type Fields, isFields } from './values';

/** A segment as the facts of a plan hold it. */
type Drawn = {
  global_id: number;
  generation: number;
  broker_group_name: string;
  queue_id: number;
  status: string;
  logical_start: string;
  logical_end: string | null;
  physical_start: string | null;
  physical_end: string | null;
};

export type PlanSegments = {
  before: LogicalQueue[];
  after: LogicalQueue[];
  /** How many more logical queues change. */
  leftOutCount: number;
};

/** The logical queues that a plan changes, and the facts besides; a plan may change none. */
export function segmentsApart(facts: unknown): { segments: PlanSegments | null; rest: Fields } {
  const { segments, ...rest } = isFields(facts) ? facts : {};
  if (!isFields(segments)) return { segments: null, rest };
  const { before, after, left_out } = segments as {
    before: Drawn[];
    after: Drawn[];
    left_out: number;
  };
  const drawn = { before: queuesOf(before), after: queuesOf(after), leftOutCount: left_out };
  return { segments: drawn, rest };
}

function queuesOf(drawn: Drawn[]): LogicalQueue[] {
  const byQueue = new Map<number, Segment[]>();
  for (const one of drawn) {
    const known = byQueue.get(one.global_id);
    if (known) known.push(segmentOf(one));
    else byQueue.set(one.global_id, [segmentOf(one)]);
  }
  return [...byQueue].map(([globalId, segments]) => {
    const leaderName = segments.at(-1)?.brokerGroupName ?? null;
    return { globalId, leaderName, sealed: false, maxOffset: null, segments };
  });
}

function segmentOf(one: Drawn): Segment {
  return {
    generation: one.generation,
    brokerGroupName: one.broker_group_name,
    queueId: one.queue_id,
    status: one.status.toUpperCase() as Segment['status'],
    logicalStart: one.logical_start,
    logicalEnd: one.logical_end,
    physicalStart: one.physical_start,
    physicalEnd: one.physical_end,
  };
}
