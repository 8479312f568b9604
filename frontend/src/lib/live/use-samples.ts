import { queryOptions, useQuery } from '@tanstack/react-query';
import { type LatestSamples, sampleKeys } from './sample-cache';
import type { Bucket } from './sample-history';

/** Both are only ever written by the stream, so there is nothing to fetch. */
const latestSamples = queryOptions({
  queryKey: sampleKeys.latest,
  queryFn: (): LatestSamples => ({}),
  initialData: {} as LatestSamples,
  enabled: false,
  gcTime: Number.POSITIVE_INFINITY,
});

const sampleHistory = queryOptions({
  queryKey: sampleKeys.history,
  queryFn: (): Bucket[] => [],
  initialData: [] as Bucket[],
  enabled: false,
  gcTime: Number.POSITIVE_INFINITY,
});

export function useLatestSamples(): LatestSamples {
  return useQuery(latestSamples).data;
}

export function useSampleHistory(): Bucket[] {
  return useQuery(sampleHistory).data;
}
