import { queryOptions } from '@tanstack/react-query';
import { ClustersDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { heeding } from '@/lib/live/heeds';

export const clusterKeys = { list: [clusterScope, 'list'] as const };

/** As many as a page holds: who looks chooses among all of them. */
const clusterCountMax = 500;

export const clusterList = queryOptions({
  queryKey: clusterKeys.list,
  queryFn: ({ signal }) => ask(ClustersDocument, { first: clusterCountMax }, signal),
  staleTime: 30_000,
  refetchInterval: (query) => (query.state.data?.data.clusters.nodes.length ? false : 5_000),
  meta: heeding(['broker', 'route']),
});
