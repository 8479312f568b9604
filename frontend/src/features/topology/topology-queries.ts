import { queryOptions } from '@tanstack/react-query';
import { TopologyDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';

export const topologyKeys = {
  of: (clusterName: string) => [clusterScope, 'topology', clusterName] as const,
};

/** As many groups as the server hands out at once; the page says when there are more. */
export const groupCountMax = 100;

export function topologyOf(clusterName: string) {
  return queryOptions({
    queryKey: topologyKeys.of(clusterName),
    queryFn: ({ signal }) =>
      ask(TopologyDocument, { clusterName, groupCount: groupCountMax, after: null }, signal),
    refetchInterval: 15_000,
  });
}
