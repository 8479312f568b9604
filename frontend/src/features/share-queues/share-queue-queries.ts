import { queryOptions } from '@tanstack/react-query';
import { ShareIncidentsDocument, ShareQueueDocument, ShareQueuesDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';
import type { ShareQueueName } from './share-queue';

export type ShareQueueChoice = {
  clusterName: string;
  consumerGroupName: string | undefined;
  topic: string | undefined;
};

export const shareQueuePageSize = 50;
/** Older incidents are listed by the command line. */
export const shareIncidentsMax = 50;
/** What consumers have is known to masters only, and each list asks all of them. */
export const shareQueuesIntervalMs = 10_000;

const keys = {
  of: (clusterName: string) => [clusterScope, 'share-queues', clusterName] as const,
  one: (clusterName: string, name: ShareQueueName) =>
    [clusterScope, 'share-queue', clusterName, name] as const,
  incidents: (clusterName: string) => [clusterScope, 'share-incidents', clusterName] as const,
};

/** Messages come and go with consumers; what an order changes, or a failover, is an event. */
function heedingOrders(clusterName: string) {
  return heeding(['step', 'broker', 'group'], {
    clusterName,
    when: ({ kind }) => !kind.startsWith('step.') || kind === 'step.done',
  });
}

export function shareQueuesOf(chosen: ShareQueueChoice, after: string | undefined) {
  const { clusterName, consumerGroupName = null, topic = null } = chosen;
  return queryOptions({
    queryKey: [...keys.of(clusterName), chosen, after],
    queryFn: ({ signal }) =>
      ask(
        ShareQueuesDocument,
        {
          chosen: { clusterName, consumerGroupName, topic },
          first: shareQueuePageSize,
          after: after ?? null,
        },
        signal,
      ),
    placeholderData: keepWithin(keys.of(clusterName)),
    refetchInterval: shareQueuesIntervalMs,
    meta: heedingOrders(clusterName),
  });
}

export function shareQueueOf(clusterName: string, name: ShareQueueName) {
  return queryOptions({
    queryKey: keys.one(clusterName, name),
    queryFn: ({ signal }) => ask(ShareQueueDocument, { clusterName, ...name }, signal),
    refetchInterval: shareQueuesIntervalMs,
    meta: heedingOrders(clusterName),
  });
}

/** The newest incidents of the chosen share queues, and of the lanes that they are in. */
export function shareIncidentsOf(chosen: ShareQueueChoice) {
  const { clusterName, consumerGroupName = null, topic = null } = chosen;
  return queryOptions({
    queryKey: [...keys.incidents(clusterName), chosen],
    queryFn: ({ signal }) =>
      ask(
        ShareIncidentsDocument,
        { chosen: { clusterName, consumerGroupName, topic }, first: shareIncidentsMax },
        signal,
      ),
    placeholderData: keepWithin(keys.incidents(clusterName)),
    refetchInterval: shareQueuesIntervalMs,
    meta: heeding(['finding', 'group'], { clusterName }),
  });
}
