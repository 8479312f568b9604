import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Observed } from '@/components/observed';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { UnknownBrokers } from '@/components/unknown-brokers';
import { clientsOf } from '@/features/clients/client-queries';
import { ClientTable } from '@/features/clients/client-table';
import { usePageTrail } from './use-page-trail';

/** The page of clients that the address names, and the ways to the pages beside it. */
export function ClientsPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { search, group, role, after } = useSearch({ from: '/console/clients' });
  const query = useQuery(clientsOf(clusterName, { search, group, role, after }));
  const trail = usePageTrail();
  const observedAt = query.data?.data.clients?.observedAt;
  const isNarrowed = [search, group, role].some((one) => one !== undefined);
  const emptyWord = isNarrowed ? 'noMatch' : 'none';
  return (
    <Panel
      title={t('clients.list')}
      aside={
        observedAt && !query.isPlaceholderData ? <Observed atMs={Date.parse(observedAt)} /> : null
      }
      flush
    >
      <QueryView query={query} needs="clients">
        {({ clients: { nodes, totalCount, pageInfo, unknown } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          return (
            <>
              <UnknownBrokers unknown={unknown} />
              {nodes.length === 0 ? (
                <EmptyState title={t(`clients.${emptyWord}`)}>
                  {t(`clients.${emptyWord}Next`)}
                </EmptyState>
              ) : (
                <ClientTable clients={nodes} />
              )}
              <Pager
                label={t('clients.pages')}
                shown={nodes.length}
                total={totalCount}
                onFirst={after ? trail.toFirst : undefined}
                onPrevious={trail.toPrevious}
                onNext={next ? () => trail.toNext(next) : undefined}
              />
            </>
          );
        }}
      </QueryView>
    </Panel>
  );
}
