import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { TopicDocument, type TopicKind, TopicsDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { heeding } from '@/lib/live/heeds';

export type TopicFilter = {
  search: string | undefined;
  kind: TopicKind | undefined;
  after: string | undefined;
};

export const topicKeys = {
  list: (clusterName: string, filter: TopicFilter) =>
    [clusterScope, 'topics', clusterName, filter] as const,
  one: (clusterName: string, topicName: string) =>
    [clusterScope, 'topic', clusterName, topicName] as const,
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
    placeholderData: keepPreviousData,
    // The stream tells of routes; rates and offsets come with the samples.
    refetchInterval: sampleIntervalMs,
    meta: heeding(['route'], { clusterName }),
  });
}

export function topicOf(clusterName: string, topicName: string) {
  return queryOptions({
    queryKey: topicKeys.one(clusterName, topicName),
    queryFn: ({ signal }) => ask(TopicDocument, { clusterName, topicName }, signal),
    refetchInterval: sampleIntervalMs,
    meta: heeding(['route', 'step'], {
      clusterName,
      // A step on the topic itself, such as what protects it, changes no route.
      when: ({ kind, subject }) =>
        kind === 'route.changed' || (kind === 'step.done' && subject === topicName),
    }),
  });
}
