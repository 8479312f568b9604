import { queryOptions } from '@tanstack/react-query';
import { BrokerGroupMembersDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask, demand } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { heeding } from '@/lib/live/heeds';

export type GroupKey = { clusterName: string; brokerGroupName: string };

/** What each broker of a group does; a phase before a broker is online is in no event. */
export function groupMembersOf({ clusterName, brokerGroupName }: GroupKey) {
  const group = { clusterName, brokerGroupName };
  return queryOptions({
    queryKey: [clusterScope, 'group-members', group] as const,
    queryFn: async ({ signal }) =>
      demand(await ask(BrokerGroupMembersDocument, group, signal), 'brokerGroupMembers'),
    refetchInterval: sampleIntervalMs,
    meta: heeding(['group', 'broker'], {
      clusterName,
      when: (heard) => heard.brokerGroupName === brokerGroupName,
    }),
  });
}
