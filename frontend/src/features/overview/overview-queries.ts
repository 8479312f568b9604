import { queryOptions } from '@tanstack/react-query';
import { OverviewDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';

export const overviewKeys = { counts: [clusterScope, 'overview'] as const };

export const overviewCounts = queryOptions({
  queryKey: overviewKeys.counts,
  queryFn: ({ signal }) => ask(OverviewDocument, {}, signal),
  refetchInterval: paced(sampleIntervalMs),
  meta: heeding(['broker', 'group', 'route']),
});
