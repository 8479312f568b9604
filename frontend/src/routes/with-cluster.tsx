import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { clusterList } from '@/features/clusters/cluster-queries';
import { currentSession } from '@/features/session/session-queries';
import { useClusterName } from './use-cluster-name';

/** Draws its children once there is a cluster to draw; before that, what to do about it. */
export function WithCluster({ children }: { children: (clusterName: string) => ReactNode }) {
  const { t } = useTranslation();
  const clusters = useQuery(clusterList);
  const { data: session } = useSuspenseQuery(currentSession);
  const clusterName = useClusterName();
  if (clusterName !== undefined) return children(clusterName);
  const limits = session.cluster_limits;
  const patterns = limits.map((one) => one.join(', ')).join('; ');
  const reason = limits.length === 0 ? 'empty' : 'limited';
  return (
    <QueryView query={clusters}>
      {() => (
        <Panel title={t('cluster.word')}>
          <EmptyState title={t(`cluster.${reason}Title`)}>
            {t(`cluster.${reason}Next`, { patterns })}
          </EmptyState>
        </Panel>
      )}
    </QueryView>
  );
}
