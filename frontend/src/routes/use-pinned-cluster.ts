import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { clusterList } from '@/features/clusters/cluster-queries';
import { withinPage } from './within-page';

/**
 * Writes the first cluster into an address that names none. Which one is first changes as others
 * register, and what is ordered on a page must not come to mean another cluster by that.
 */
export function usePinnedCluster(): void {
  const navigate = useNavigate();
  const { cluster } = useSearch({ from: '__root__' });
  const first = useQuery(clusterList).data?.data.clusters.nodes[0]?.name;
  useEffect(() => {
    if (cluster !== undefined || first === undefined) return;
    void navigate({ to: '.', search: (now) => ({ ...now, cluster: first }), ...withinPage });
  }, [cluster, first, navigate]);
}
