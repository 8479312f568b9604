import type { SampleFieldsFragment } from '@/gql/operations';
import { readingOf, type Sum, sumOf } from '@/lib/reading';

/** The rates of all brokers together, and how old the oldest of them is. */
export type LiveTotals = { in: Sum; out: Sum; observedAtMs: number | null };

/** One entry per online broker: its newest sample, or null when none was ever taken. */
export function liveTotals(samples: (SampleFieldsFragment | null)[]): LiveTotals {
  const times = samples.flatMap((sample) => (sample ? [Date.parse(sample.observedAt)] : []));
  return {
    in: sumOf(samples.map((sample) => readingOf(sample, (rates) => rates.messagesInPerSecond))),
    out: sumOf(samples.map((sample) => readingOf(sample, (rates) => rates.messagesOutPerSecond))),
    observedAtMs: times.length > 0 ? Math.min(...times) : null,
  };
}
