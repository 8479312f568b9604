import type { BrokerFieldsFragment, SampleFieldsFragment, TopologyQuery } from '@/gql/operations';
import { brokerKey } from '@/lib/live/broker-key';
import { type LatestSamples, newerOf } from '@/lib/live/sample-cache';

export type NameServerView = TopologyQuery['nameServers'][number];

/** A broker with its newest sample, wherever that came from. */
export type BrokerView = Omit<BrokerFieldsFragment, 'latestSample'> & {
  clusterName: string;
  isActing: boolean;
  sample: SampleFieldsFragment | null;
};

export type GroupView = { id: string; name: string; brokers: BrokerView[] };

export function groupViews(topology: TopologyQuery, latest: LatestSamples): GroupView[] {
  const groups = topology.cluster?.brokerGroups.nodes ?? [];
  return groups.map((group) => ({
    id: group.id,
    name: group.name,
    brokers: group.brokers.map(({ latestSample, ...broker }) => {
      const clusterName = group.clusterName;
      const live = latest[brokerKey({ clusterName, brokerName: broker.name })];
      const isActing = broker.name === group.actingBroker;
      return { ...broker, clusterName, isActing, sample: newerOf(live, latestSample) };
    }),
  }));
}

export function isOnline(broker: BrokerView): boolean {
  return broker.state === 'ONLINE';
}

export function hasOnlineMaster(group: GroupView): boolean {
  return group.brokers.some((broker) => broker.role === 'MASTER' && isOnline(broker));
}

/** The used share of a broker's disk, where a sample reports it. */
export function diskUsed(sample: SampleFieldsFragment | null): number | null {
  const total = Number(sample?.diskTotalBytes ?? 0);
  return total > 0 ? 1 - Number(sample?.diskFreeBytes) / total : null;
}
