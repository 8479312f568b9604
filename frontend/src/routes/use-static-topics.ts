import { useQuery } from '@tanstack/react-query';
import { staticTopicsOf } from '@/features/topics/topic-queries';

/** The names of the static topics of a cluster: their queues and offsets are logical everywhere. */
export function useStaticTopics(clusterName: string): ReadonlySet<string> {
  const query = useQuery({
    ...staticTopicsOf(clusterName, null),
    enabled: clusterName !== '',
  });
  return new Set(query.data?.data.staticTopics?.nodes.map(({ name }) => name));
}
