/** One range of a physical queue that is a part of a logical queue; offsets have 64 bits. */
export type Segment = {
  generation: number;
  brokerGroupName: string;
  queueId: number;
  status: 'UNDECIDED' | 'NORMAL' | 'READ_ONLY' | 'EXPIRED';
  /** Null until it is decided. */
  logicalStart: string | null;
  /** The offset after the last message; null while the end is open. */
  logicalEnd: string | null;
  /** Null in a plan: the move chooses it. */
  physicalStart: string | null;
  physicalEnd: string | null;
};

/** A logical queue with its segments, the oldest one first. */
export type LogicalQueue = {
  globalId: number;
  leaderName: string | null;
  /** Whether the queue takes no messages now. */
  sealed: boolean;
  /** The offset after the newest message; null until a sample shows it. */
  maxOffset: string | null;
  segments: readonly Segment[];
  /** The physical queue that a running move has reserved, before it is a segment. */
  reserved?: { brokerGroupName: string; queueId: number } | undefined;
};

export type SegmentState = 'normal' | 'sealed' | 'readOnly' | 'expired' | 'undecided' | 'reserved';

/** A segment as it is drawn; shares of one queue add up to 1. */
export type SegmentBoxData = Omit<Segment, 'status'> & {
  state: SegmentState;
  end: string | null;
  share: number;
};

/** A segment as a row of the table that says the same as the strip. */
export type SegmentRow = SegmentBoxData & { globalId: number };

const states: Record<Segment['status'], SegmentState> = {
  UNDECIDED: 'undecided',
  NORMAL: 'normal',
  READ_ONLY: 'readOnly',
  EXPIRED: 'expired',
};

/** The segments of a queue with their ends as far as they are known, and their shares of it. */
export function segmentBoxes(queue: LogicalQueue): SegmentBoxData[] {
  const last = queue.segments.at(-1);
  const ended = queue.segments.map((segment) => {
    const end = segment.logicalEnd ?? (segment === last ? queue.maxOffset : null);
    const state = states[segment.status];
    return { ...segment, end, state: state === 'normal' && queue.sealed ? 'sealed' : state };
  });
  const lengths = ended.map(({ logicalStart, end }) => lengthOf(logicalStart, end));
  const total = lengths.reduce((sum, length) => sum + length, 0n);
  const boxes = ended.map((segment, at) => ({
    ...segment,
    share: total === 0n ? 1 / ended.length : shareOf(lengths[at] ?? 0n, total),
  }));
  return queue.reserved === undefined
    ? boxes
    : [...boxes, reservedBox(queue.reserved, (last?.generation ?? -1) + 1)];
}

export function segmentRows(queues: readonly LogicalQueue[]): SegmentRow[] {
  return queues.flatMap((queue) =>
    segmentBoxes(queue).map((box) => ({ ...box, globalId: queue.globalId })),
  );
}

function reservedBox(
  place: NonNullable<LogicalQueue['reserved']>,
  generation: number,
): SegmentBoxData {
  const offsets = { logicalStart: null, logicalEnd: null, physicalStart: null, physicalEnd: null };
  return { ...place, ...offsets, generation, state: 'reserved', end: null, share: 0 };
}

function lengthOf(start: string | null, end: string | null): bigint {
  if (start === null || end === null) return 0n;
  const length = BigInt(end) - BigInt(start);
  return length > 0n ? length : 0n;
}

function shareOf(length: bigint, total: bigint): number {
  const parts = 1_000_000n;
  return Number((length * parts) / total) / Number(parts);
}
