import { queryOptions } from '@tanstack/react-query';
import {
  LogicalQueuesDocument,
  StaticTopicsDocument,
  TopicDocument,
  type TopicKind,
  TopicsDocument,
} from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask, demand, take } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { keepWithin } from '@/lib/keep-within';
import { heeding } from '@/lib/live/heeds';

export type TopicFilter = {
  search: string | undefined;
  kind: TopicKind | undefined;
  after: string | undefined;
};

export const topicKeys = {
  of: (clusterName: string) => [clusterScope, 'topics', clusterName] as const,
  list: (clusterName: string, filter: TopicFilter) =>
    [...topicKeys.of(clusterName), filter] as const,
  one: (clusterName: string, topicName: string) =>
    [clusterScope, 'topic', clusterName, topicName] as const,
  logicalQueues: (clusterName: string, topicName: string) =>
    [clusterScope, 'logical-queues', clusterName, topicName] as const,
  staticTopics: (clusterName: string, brokerGroupName: string | null) =>
    [clusterScope, 'static-topics', clusterName, brokerGroupName] as const,
};

export const topicPageSize = 50;

export function topicsOf(clusterName: string, filter: TopicFilter) {
  return queryOptions({
    queryKey: topicKeys.list(clusterName, filter),
    queryFn: ({ signal }) =>
      ask(
        TopicsDocument,
        {
          clusterName,
          first: topicPageSize,
          after: filter.after ?? null,
          search: filter.search ?? null,
          kind: filter.kind ?? null,
        },
        signal,
      ),
    placeholderData: keepWithin(topicKeys.of(clusterName)),
    // The stream reports routes; rates and offsets come with the samples.
    refetchInterval: sampleIntervalMs,
    meta: heeding(['route'], { clusterName }),
  });
}

export function topicOf(clusterName: string, topicName: string) {
  return queryOptions({
    queryKey: topicKeys.one(clusterName, topicName),
    queryFn: async ({ signal }) => {
      const answer = await ask(TopicDocument, { clusterName, topicName }, signal);
      return demand(
        take(answer, 'topic', 'cluster.topic', (data) => data.cluster?.topic),
        'topic',
      );
    },
    refetchInterval: sampleIntervalMs,
    meta: heeding(['route', 'step'], {
      clusterName,
      // A step on the topic itself, such as what protects it, changes no route.
      when: ({ kind, subject }) =>
        kind === 'route.changed' || (kind === 'step.done' && subject === topicName),
    }),
  });
}

export function logicalQueuesOf(clusterName: string, topicName: string) {
  return queryOptions({
    queryKey: topicKeys.logicalQueues(clusterName, topicName),
    queryFn: ({ signal }) => ask(LogicalQueuesDocument, { clusterName, topicName }, signal),
    refetchInterval: sampleIntervalMs,
    meta: heeding(['route', 'step'], {
      clusterName,
      when: ({ kind, subject }) =>
        kind === 'route.changed' || (kind === 'step.done' && subject === topicName),
    }),
  });
}

/** The most that the control plane answers with at once. */
const staticTopicsMax = 500;

/** The static topics of a cluster, or those with segments on a broker group. */
export function staticTopicsOf(clusterName: string, brokerGroupName: string | null) {
  return queryOptions({
    queryKey: topicKeys.staticTopics(clusterName, brokerGroupName),
    queryFn: ({ signal }) =>
      ask(StaticTopicsDocument, { clusterName, brokerGroupName, first: staticTopicsMax }, signal),
    refetchInterval: sampleIntervalMs,
    meta: heeding(['route', 'operation', 'step'], { clusterName }),
  });
}
