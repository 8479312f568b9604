import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { ShareIncidentTable } from '@/features/share-queues/share-incident-table';
import { shareIncidentsOf } from '@/features/share-queues/share-queue-queries';

/** The newest incidents of the share queues that the filters of the page choose. */
export function ShareIncidentsPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { group, topic } = useSearch({ from: '/console/share-queues' });
  const query = useQuery(shareIncidentsOf({ clusterName, consumerGroupName: group, topic }));
  return (
    <Panel
      title={t('shareIncidents.list')}
      aside={<Answered atMs={query.dataUpdatedAt} followed />}
      flush
    >
      <QueryView query={query}>
        {({ shareIncidents: { nodes } }) =>
          nodes.length === 0 ? (
            <EmptyState title={t('shareIncidents.none')}>{t('shareIncidents.noneNext')}</EmptyState>
          ) : (
            <ShareIncidentTable incidents={nodes} />
          )
        }
      </QueryView>
    </Panel>
  );
}
