import { queryOptions } from '@tanstack/react-query';
import {
  type ContainerFieldsFragment,
  ContainersDocument,
  type InnerBrokerFieldsFragment,
} from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';

export type Container = ContainerFieldsFragment;
export type InnerBroker = InnerBrokerFieldsFragment;

export const containerPageSize = 20;
/** Which brokers share a process is known to brokers only, and each list asks all of them. */
export const containersIntervalMs = 10_000;

const keys = {
  of: (clusterName: string) => [clusterScope, 'containers', clusterName] as const,
};

export function containersOf(clusterName: string, after: string | undefined) {
  return queryOptions({
    queryKey: [...keys.of(clusterName), after],
    queryFn: ({ signal }) =>
      ask(
        ContainersDocument,
        {
          chosen: { clusterName, address: null },
          first: containerPageSize,
          after: after ?? null,
        },
        signal,
      ),
    placeholderData: keepWithin(keys.of(clusterName)),
    refetchInterval: containersIntervalMs,
    meta: heeding(['step', 'broker'], {
      clusterName,
      when: ({ kind }) => !kind.startsWith('step.') || kind === 'step.done',
    }),
  });
}
