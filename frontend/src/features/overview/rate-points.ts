import type { RatesQuery } from '@/gql/operations';
import { bucketStart, type RatePoint } from '@/lib/live/sample-history';

export type RateSpan = 'recent' | 'day';

/** How much of the past a span shows, and how far its points are apart. */
export const rateSpans: Record<RateSpan, { minutes: number; stepMs: number }> = {
  recent: { minutes: 30, stepMs: 5_000 },
  day: { minutes: 1_440, stepMs: 300_000 },
};

export function pastPoints(answer: RatesQuery | undefined): RatePoint[] {
  return (answer?.rates ?? []).map((rates) => ({
    atMs: Date.parse(rates.observedAt),
    in: rates.messagesInPerSecond,
    out: rates.messagesOutPerSecond,
  }));
}

/**
 * Puts the rates that this console heard itself in the place of the kept rates. The kept rates stay
 * where the console heard nothing or had just begun to listen. A span longer than two steps without
 * an observation is a gap, never a line across it.
 */
export function joinPoints(past: RatePoint[], heard: RatePoint[], span: RateSpan): RatePoint[] {
  const { minutes, stepMs } = rateSpans[span];
  const known = new Map<number, RatePoint>();
  const file = (point: RatePoint, isWhole: boolean) => {
    const atMs = span === 'recent' ? bucketStart(point.atMs) : point.atMs;
    const kept = known.get(atMs);
    if (isWhole || !kept || !isKnown(kept)) known.set(atMs, { ...point, atMs });
  };
  for (const point of past) file(point, true);
  for (const [at, point] of heard.entries()) {
    const before = heard[at - 1];
    // A console that begins to listen within a round hears only some of its brokers.
    if (isKnown(point)) file(point, before !== undefined && isKnown(before));
  }
  const points = [...known.values()].sort((left, right) => left.atMs - right.atMs);
  const fromMs = (points.at(-1)?.atMs ?? 0) - minutes * 60_000;
  return withGaps(
    points.filter((point) => point.atMs > fromMs),
    stepMs,
  );
}

function isKnown(point: RatePoint): boolean {
  return point.in !== null || point.out !== null;
}

function withGaps(points: RatePoint[], stepMs: number): RatePoint[] {
  return points.flatMap((point, at) => {
    const before = points[at - 1];
    return before && point.atMs - before.atMs > 2 * stepMs
      ? [{ atMs: before.atMs + stepMs, in: null, out: null }, point]
      : [point];
  });
}
