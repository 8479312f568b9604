import { queryOptions } from '@tanstack/react-query';
import { ConsumerGroupDocument, ConsumerGroupsDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask, demand } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';

export type ConsumerGroupFilter = { search: string | undefined; after: string | undefined };

export const consumerGroupKeys = {
  of: (clusterName: string) => [clusterScope, 'consumer-groups', clusterName] as const,
  list: (clusterName: string, filter: ConsumerGroupFilter) =>
    [...consumerGroupKeys.of(clusterName), filter] as const,
  one: (clusterName: string, name: string) =>
    [clusterScope, 'consumer-group', clusterName, name] as const,
};

export const consumerGroupPageSize = 50;

export function consumerGroupsOf(clusterName: string, filter: ConsumerGroupFilter) {
  return queryOptions({
    queryKey: consumerGroupKeys.list(clusterName, filter),
    queryFn: ({ signal }) =>
      ask(
        ConsumerGroupsDocument,
        {
          clusterName,
          first: consumerGroupPageSize,
          after: filter.after ?? null,
          search: filter.search ?? null,
        },
        signal,
      ),
    placeholderData: keepWithin(consumerGroupKeys.of(clusterName)),
    refetchInterval: sampleIntervalMs,
  });
}

export function consumerGroupOf(clusterName: string, name: string) {
  return queryOptions({
    queryKey: consumerGroupKeys.one(clusterName, name),
    queryFn: async ({ signal }) =>
      demand(await ask(ConsumerGroupDocument, { clusterName, name }, signal), 'consumerGroup'),
    refetchInterval: sampleIntervalMs,
    meta: heeding(['step'], {
      clusterName,
      when: ({ kind, subject }) => kind === 'step.done' && subject === name,
    }),
  });
}
