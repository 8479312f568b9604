import { queryOptions } from '@tanstack/react-query';
import { type SampleFieldsFragment, TopologyDocument, type TopologyQuery } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { type Answer, ask } from '@/lib/graphql';
import { heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';
import { recordSamples } from '@/lib/live/sample-cache';

export const topologyKeys = {
  of: (clusterName: string) => [clusterScope, 'topology', clusterName] as const,
};

/** So many groups at once: a page of more would hold up what others ask for meanwhile (G10). */
const groupPageSize = 100;
/** Of no more pages than this a cluster is read; who shows it says when there are more. */
const groupPageCountMax = 20;

/** Asks page after page for all groups, since a judgement on some of them is none on the cluster. */
async function askForGroups(
  clusterName: string,
  signal: AbortSignal,
): Promise<Answer<TopologyQuery>> {
  const askAfter = (after: string | null) =>
    ask(TopologyDocument, { clusterName, groupCount: groupPageSize, after }, signal);
  let whole = await askAfter(null);
  for (let pageCount = 1; pageCount < groupPageCountMax; pageCount += 1) {
    const { cluster } = whole.data;
    if (!cluster?.brokerGroups.pageInfo.hasNextPage) break;
    const next = await askAfter(cluster.brokerGroups.pageInfo.endCursor);
    const problems = [...whole.problems, ...next.problems];
    const come = next.data.cluster?.brokerGroups;
    // What came so far says of itself that there is more.
    if (!come) return { ...whole, problems };
    const nodes = [...cluster.brokerGroups.nodes, ...come.nodes];
    const brokerGroups = { ...come, nodes };
    whole = { data: { ...next.data, cluster: { ...cluster, brokerGroups } }, problems };
  }
  return whole;
}

export function topologyOf(clusterName: string) {
  return queryOptions({
    queryKey: topologyKeys.of(clusterName),
    queryFn: async ({ client, signal }) => {
      const answer = await askForGroups(clusterName, signal);
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
