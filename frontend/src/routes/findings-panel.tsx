import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { FindingList } from '@/features/findings/finding-list';
import { findingsOf } from '@/features/findings/finding-queries';
import { usePageTrail } from './use-page-trail';

/** The page of findings that the address names, and the ways to the pages beside it. */
export function FindingsPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { state = 'open', after } = useSearch({ from: '/console/findings' });
  const query = useQuery(findingsOf(clusterName, state, after));
  const trail = usePageTrail();
  const observed = <Answered atMs={query.dataUpdatedAt} followed />;
  return (
    <Panel title={t('findings.list')} aside={observed} flush>
      <QueryView query={query}>
        {({ findings: { nodes, totalCount, pageInfo } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          return (
            <>
              {nodes.length === 0 ? (
                <EmptyState title={t(`findingsNone.${state}`)}>{t('findingsNone.next')}</EmptyState>
              ) : (
                <FindingList findings={nodes} />
              )}
              <Pager
                label={t('findings.pages')}
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
