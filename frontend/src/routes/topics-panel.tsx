import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { topicsOf } from '@/features/topics/topic-queries';
import { TopicTable } from '@/features/topics/topic-table';
import { usePageTrail } from './use-page-trail';
import { withinPage } from './within-page';

/** The page of topics that the address names, and the ways to the pages beside it. */
export function TopicsPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/topics' });
  const { search, kind, after, sort } = useSearch({ from: '/console/topics' });
  const query = useQuery(topicsOf(clusterName, { search, kind, after }));
  const trail = usePageTrail();
  const observed = <Answered atMs={query.dataUpdatedAt} />;
  const emptyWord = search !== undefined || kind !== undefined ? 'noMatch' : 'none';
  return (
    <Panel title={t('topics.list')} aside={observed} flush>
      <QueryView query={query} needs="cluster">
        {({ cluster }) => {
          if (cluster === null) {
            return <EmptyState title={t('cluster.unknownTitle', { name: clusterName })} />;
          }
          const { nodes, totalCount, pageInfo } = cluster.topics;
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          return (
            <>
              {nodes.length === 0 ? (
                <EmptyState title={t(`topics.${emptyWord}`)}>
                  {t(`topics.${emptyWord}Next`)}
                </EmptyState>
              ) : (
                <TopicTable
                  topics={nodes}
                  sort={sort}
                  onSort={(order) =>
                    void navigate({ search: (now) => ({ ...now, sort: order }), ...withinPage })
                  }
                />
              )}
              <Pager
                label={t('topics.pages')}
                shown={nodes.length}
                total={totalCount}
                isSorted={sort !== undefined}
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
