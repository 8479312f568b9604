import type { QueryClient } from '@tanstack/react-query';
import type { SampleFieldsFragment } from '@/gql/operations';
import { brokerKey } from './broker-key';
import { addToHistory, type Bucket } from './sample-history';

/** Live samples are server state like any other: they live in the query cache under these keys. */
export const sampleKeys = {
  latest: ['samples', 'latest'] as const,
  history: ['samples', 'history'] as const,
};

export type LatestSamples = Record<string, SampleFieldsFragment>;

export function newerOf<T extends { observedAt: string }>(
  left: T | null | undefined,
  right: T | null | undefined,
): T | null {
  if (!left || !right) return left ?? right ?? null;
  return Date.parse(left.observedAt) >= Date.parse(right.observedAt) ? left : right;
}

export function recordSamples(client: QueryClient, samples: SampleFieldsFragment[]): void {
  client.setQueryData<LatestSamples>(sampleKeys.latest, (latest = {}) => {
    const merged = { ...latest };
    for (const sample of samples) {
      const key = brokerKey(sample);
      merged[key] = newerOf(sample, merged[key]) ?? sample;
    }
    return merged;
  });
  client.setQueryData<Bucket[]>(sampleKeys.history, (history = []) =>
    addToHistory(history, samples),
  );
}
