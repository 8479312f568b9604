import { queryOptions } from '@tanstack/react-query';
import { BrokerConfigDocument, BrokerPageDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask, demand, take } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { groupOf, heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';

export type BrokerKey = { clusterName: string; brokerGroupName: string; brokerId: string };

export const brokerKeys = {
  group: (clusterName: string, brokerGroupName: string) =>
    [clusterScope, 'broker-group', clusterName, brokerGroupName] as const,
  config: (broker: BrokerKey) => [clusterScope, 'broker-config', broker] as const,
};

export function brokerGroupOf(clusterName: string, brokerGroupName: string) {
  return queryOptions({
    queryKey: brokerKeys.group(clusterName, brokerGroupName),
    queryFn: async ({ signal }) => {
      const answer = await ask(BrokerPageDocument, { clusterName, brokerGroupName }, signal);
      demand(
        take(answer, 'group', 'cluster.brokerGroup', ({ cluster }) => cluster?.brokerGroup),
        'group',
      );
      return answer;
    },
    refetchInterval: paced(sampleIntervalMs, 3 * sampleIntervalMs),
    meta: heeding(['broker', 'group', 'step'], {
      clusterName,
      when: (heard) =>
        groupOf(heard) === brokerGroupName &&
        (heard.kind === 'step.done' || !heard.kind.startsWith('step.')),
    }),
  });
}

/** What a broker is set to; it is asked itself, so only when somebody looks, or has changed it. */
export function brokerConfigOf(broker: BrokerKey) {
  return queryOptions({
    queryKey: brokerKeys.config(broker),
    queryFn: ({ signal }) => ask(BrokerConfigDocument, broker, signal),
    staleTime: 30_000,
    retry: false,
    meta: heeding(['step', 'broker'], {
      clusterName: broker.clusterName,
      when: (heard) =>
        groupOf(heard) === broker.brokerGroupName &&
        ['step.done', 'broker.registered'].includes(heard.kind),
    }),
  });
}
