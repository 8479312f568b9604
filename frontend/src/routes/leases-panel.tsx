import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { LeaseTable } from '@/features/locks/lease-table';
import { leasesOf } from '@/features/locks/lock-queries';
import { usePageTrail } from './use-page-trail';

/** The leases of a cluster's masters, page by page. */
export function LeasesPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { after } = useSearch({ from: '/console/locks' });
  const query = useQuery(leasesOf(clusterName, after));
  const trail = usePageTrail();
  return (
    <Panel title={t('leases.list')} aside={<Answered atMs={query.dataUpdatedAt} />} flush>
      <QueryView query={query}>
        {({ leases: { nodes, totalCount, pageInfo } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          if (totalCount === 0) {
            return <EmptyState title={t('leases.empty')}>{t('leases.emptyNext')}</EmptyState>;
          }
          return (
            <>
              <LeaseTable leases={nodes} />
              <Pager
                label={t('leases.pages')}
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
