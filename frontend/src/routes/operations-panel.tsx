import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { listIntervalMs, operationsOf } from '@/features/operations/operation-queries';
import { OperationTable } from '@/features/operations/operation-table';
import { useStaleness } from '@/lib/staleness';
import { usePageTrail } from './use-page-trail';

/** The page of operations that the address names, and the ways to the pages beside it. */
export function OperationsPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { state, kind, search, after } = useSearch({ from: '/console/operations' });
  const query = useQuery(operationsOf({ clusterName, state, kind, search, after }));
  const staleness = useStaleness(query, 3 * listIntervalMs + 1_000);
  const trail = usePageTrail();
  const isNarrowed = state !== undefined || kind !== undefined || search !== undefined;
  const emptyWord = isNarrowed ? 'noMatch' : 'none';
  return (
    <Panel
      title={t('operations.list')}
      aside={<Answered atMs={query.dataUpdatedAt} followed />}
      flush
    >
      <QueryView query={query}>
        {({ operations: { nodes, totalCount, pageInfo } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          if (totalCount === 0) {
            return (
              <EmptyState title={t(`operations.${emptyWord}`)}>
                {t(`operations.${emptyWord}Next`)}
              </EmptyState>
            );
          }
          return (
            <>
              <OperationTable operations={nodes} staleness={staleness} />
              <Pager
                label={t('operations.pages')}
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
