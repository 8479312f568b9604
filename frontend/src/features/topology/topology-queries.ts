import { queryOptions } from '@tanstack/react-query';
import { type SampleFieldsFragment, TopologyDocument, type TopologyQuery } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';
import { recordSamples } from '@/lib/live/sample-cache';

export const topologyKeys = {
  of: (clusterName: string) => [clusterScope, 'topology', clusterName] as const,
};

/** As many groups as the server hands out at once; the page says when there are more. */
export const groupCountMax = 100;

export function topologyOf(clusterName: string) {
  return queryOptions({
    queryKey: topologyKeys.of(clusterName),
    queryFn: async ({ client, signal }) => {
      const variables = { clusterName, groupCount: groupCountMax, after: null };
      const answer = await ask(TopologyDocument, variables, signal);
      // What was known before the console began to listen counts as heard.
      recordSamples(client, samplesIn(answer.data));
      return answer;
    },
    refetchInterval: paced(15_000),
    meta: heeding(['broker', 'group', 'route'], { clusterName }),
  });
}

function samplesIn(topology: TopologyQuery): SampleFieldsFragment[] {
  const brokers = topology.cluster?.brokerGroups.nodes.flatMap((group) => group.brokers) ?? [];
  return brokers.flatMap((broker) => broker.latestSample ?? []);
}
