import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { HealthSentence } from '@/features/overview/health-sentence';
import { hasOnlineMaster, isOnline } from '@/features/topology/broker-view';
import { useStaleness } from '@/lib/staleness';
import { useTopology } from './use-topology';

/** Nobody asks more often where no stream tells. */
const staleLimitMs = 45_000;

/** Sums a cluster up in a sentence; says nothing until it knows. */
export function ClusterHealth({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { query, groups } = useTopology(clusterName);
  const staleness = useStaleness(query, staleLimitMs);
  if (query.data === undefined) return null;
  const { cluster } = query.data.data;
  if (cluster === null) {
    return <StateMark tone="unknown" label={t('health.unknown')} />;
  }
  const { totalCount, pageInfo } = cluster.brokerGroups;
  const brokers = groups.flatMap((group) => group.brokers);
  return (
    <HealthSentence
      groupCount={groups.length}
      groupTotal={pageInfo.hasNextPage ? totalCount : groups.length}
      groupsWithoutMaster={groups
        .filter((group) => !hasOnlineMaster(group))
        .map((group) => group.name)}
      offlineCount={brokers.filter((broker) => !isOnline(broker)).length}
      staleness={staleness}
    />
  );
}
