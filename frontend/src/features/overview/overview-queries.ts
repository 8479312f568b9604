import { queryOptions } from '@tanstack/react-query';
import { OverviewDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';

export const overviewKeys = { counts: [clusterScope, 'overview'] as const };

export const overviewCounts = queryOptions({
  queryKey: overviewKeys.counts,
  queryFn: ({ signal }) => ask(OverviewDocument, {}, signal),
  refetchInterval: sampleIntervalMs,
});
