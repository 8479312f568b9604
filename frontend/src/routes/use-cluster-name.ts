import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { clusterList } from '@/features/clusters/cluster-queries';

/** The cluster the address names, else the first there is, until that stands there too. */
export function useClusterName(): string | undefined {
  const { cluster } = useSearch({ from: '__root__' });
  const first = useQuery(clusterList).data?.data.clusters.nodes[0]?.name;
  return cluster ?? first;
}
