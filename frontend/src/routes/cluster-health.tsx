import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { HealthSentence } from '@/features/overview/health-sentence';
import { healthOf } from '@/features/overview/overview-queries';
import { staleAfterMs } from '@/lib/intervals';
import { useStaleness } from '@/lib/staleness';

/** Sums a cluster up in a sentence; says nothing until it knows, or knows that it can't. */
export function ClusterHealth({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const query = useQuery(healthOf(clusterName));
  const staleness = useStaleness(query, staleAfterMs);
  if (query.data === undefined) {
    return query.isError ? <StateMark tone="unknown" label={t('health.unknown')} /> : null;
  }
  return <HealthSentence health={query.data.data.health} staleness={staleness} />;
}
