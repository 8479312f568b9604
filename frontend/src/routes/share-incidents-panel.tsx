import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { Trans, useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { ShareIncidentTable } from '@/features/share-queues/share-incident-table';
import { shareIncidentsOf } from '@/features/share-queues/share-queue-queries';
import classes from '@/features/share-queues/share-queues.module.css';

/** The newest incidents of the share queues that the filters of the page choose. */
export function ShareIncidentsPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { group, topic } = useSearch({ from: '/console/share-queues' });
  const query = useQuery(shareIncidentsOf({ clusterName, consumerGroupName: group, topic }));
  const emptyWord = group === undefined && topic === undefined ? 'none' : 'noMatch';
  return (
    <Panel
      title={t('shareIncidents.list')}
      aside={<Answered atMs={query.dataUpdatedAt} followed />}
      flush
    >
      <QueryView query={query}>
        {({ shareIncidents: { nodes, totalCount } }) =>
          nodes.length === 0 ? (
            <EmptyState title={t(`shareIncidents.${emptyWord}`)}>
              {t(`shareIncidents.${emptyWord}Next`)}
            </EmptyState>
          ) : (
            <>
              <ShareIncidentTable incidents={nodes} />
              {nodes.length < totalCount ? (
                <p className={classes.note}>
                  <Trans
                    i18nKey="shareIncidents.more"
                    values={{ shown: nodes.length, total: totalCount }}
                    components={{ code: <code /> }}
                  />
                </p>
              ) : null}
            </>
          )
        }
      </QueryView>
    </Panel>
  );
}
