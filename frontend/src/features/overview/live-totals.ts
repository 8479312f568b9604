import type { SampleFieldsFragment } from '@/gql/operations';
import { staleAfterMs } from '@/lib/intervals';
import { isMaster } from '@/lib/live/broker-key';
import { newerOf } from '@/lib/live/sample-cache';
import { readingOf, type Sum, sumOf } from '@/lib/reading';

/** What masters take in, what all brokers give out, and how old the oldest of it is. */
export type LiveTotals = { in: Sum; out: Sum; observedAtMs: number | null };

/**
 * Adds the newest samples of all brokers. A broker that fell silent no longer counts while others
 * speak; when all are silent the last figures stay, and their age says so.
 */
export function liveTotals(samples: SampleFieldsFragment[], nowMs: number): LiveTotals {
  const fresh = samples.filter((sample) => nowMs - Date.parse(sample.observedAt) <= staleAfterMs);
  const counted = fresh.length > 0 ? fresh : samples;
  const masters = mastersOf(counted);
  const times = counted.map((sample) => Date.parse(sample.observedAt));
  return {
    in: sumOf(masters.map((sample) => readingOf(sample, (rates) => rates.messagesInPerSecond))),
    out: sumOf(counted.map((sample) => readingOf(sample, (rates) => rates.messagesOutPerSecond))),
    observedAtMs: times.length > 0 ? Math.min(...times) : null,
  };
}

/** The master of each group: a former one keeps its own last sample, which is still a master's. */
function mastersOf(samples: SampleFieldsFragment[]): SampleFieldsFragment[] {
  const masters = new Map<string, SampleFieldsFragment>();
  for (const sample of samples.filter(isMaster)) {
    const group = `${sample.clusterName}/${sample.brokerGroupName}`;
    masters.set(group, newerOf(sample, masters.get(group)) ?? sample);
  }
  return [...masters.values()];
}
