import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { groupViews } from '@/features/topology/broker-view';
import { topologyOf } from '@/features/topology/topology-queries';
import { useLatestSamples } from '@/lib/live/use-samples';

/** A cluster's groups and brokers, each broker with its newest sample. */
export function useTopology(clusterName: string) {
  const query = useQuery(topologyOf(clusterName));
  const latest = useLatestSamples();
  const topology = query.data?.data;
  const groups = useMemo(() => (topology ? groupViews(topology, latest) : []), [topology, latest]);
  return { query, groups };
}
