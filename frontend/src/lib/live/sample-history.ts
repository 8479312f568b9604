import type { SampleFieldsFragment } from '@/gql/operations';
import { sampleIntervalMs } from '@/lib/intervals';
import { type Reading, sumOf, unknown, value } from '@/lib/reading';
import { brokerKey, isMaster } from './broker-key';

/**
 * The rates of every broker heard of in one interval. Null is a rate that cannot be known yet, and
 * the rate of what a replica takes in: its master has that rate.
 */
export type Bucket = { startMs: number; rates: Record<string, Rates> };
export type Rates = { in: number | null; out: number | null };
export type RatePoint = { atMs: number; in: number | null; out: number | null };

const bucketCountMax = 360;

export function bucketStart(atMs: number): number {
  return Math.floor(atMs / sampleIntervalMs) * sampleIntervalMs;
}

/** Files samples under their intervals; older intervals fall off, late samples find their place. */
export function addToHistory(history: Bucket[], samples: SampleFieldsFragment[]): Bucket[] {
  const buckets = new Map(history.map((bucket) => [bucket.startMs, bucket]));
  for (const sample of samples) {
    const startMs = bucketStart(Date.parse(sample.observedAt));
    const rates = {
      in: isMaster(sample) ? sample.messagesInPerSecond : null,
      out: sample.messagesOutPerSecond,
    };
    const filed = { ...buckets.get(startMs)?.rates, [brokerKey(sample)]: rates };
    buckets.set(startMs, { startMs, rates: filed });
  }
  return [...buckets.values()]
    .sort((left, right) => left.startMs - right.startMs)
    .slice(-bucketCountMax);
}

/**
 * What masters take in and all brokers give out, interval by interval. A broker whose sample fell
 * just outside an interval counts with its previous sample. A whole interval without samples is a
 * gap, never zero.
 */
export function rateSeries(history: Bucket[]): RatePoint[] {
  const points: RatePoint[] = [];
  let previous: Bucket | undefined;
  for (const bucket of history) {
    const adjacent = previous && bucket.startMs - previous.startMs <= 2 * sampleIntervalMs;
    if (previous && !adjacent) {
      points.push({ atMs: previous.startMs + sampleIntervalMs, in: null, out: null });
    }
    const rates = Object.values(adjacent ? { ...previous?.rates, ...bucket.rates } : bucket.rates);
    points.push({
      atMs: bucket.startMs,
      in: totalOf(rates.map((rate) => rate.in)),
      out: totalOf(rates.map((rate) => rate.out)),
    });
    previous = bucket;
  }
  return points;
}

function totalOf(rates: (number | null)[]): number | null {
  const { reading } = sumOf(rates.map(rateReading));
  return reading.kind === 'value' ? reading.value : null;
}

function rateReading(rate: number | null): Reading {
  return rate === null ? unknown : value(rate);
}
