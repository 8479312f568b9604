import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { UnknownBrokers } from '@/components/unknown-brokers';
import { consumerGroupsOf } from '@/features/consumer-groups/consumer-group-queries';
import { ConsumerGroupTable } from '@/features/consumer-groups/consumer-group-table';
import { usePageTrail } from './use-page-trail';
import { withinPage } from './within-page';

/** The page of consumer groups that the address names, and the ways to the pages beside it. */
export function ConsumerGroupsPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/consumer-groups' });
  const { search, after, sort } = useSearch({ from: '/console/consumer-groups' });
  const query = useQuery(consumerGroupsOf(clusterName, { search, after }));
  const trail = usePageTrail();
  const observed = <Answered atMs={query.dataUpdatedAt} />;
  const emptyWord = search === undefined ? 'none' : 'noMatch';
  return (
    <Panel title={t('consumerGroups.list')} aside={observed} flush>
      <QueryView query={query} needs="consumerGroups">
        {({ consumerGroups: { nodes, totalCount, pageInfo, unknown } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          return (
            <>
              <UnknownBrokers unknown={unknown} />
              {nodes.length === 0 ? (
                <EmptyState title={t(`consumerGroups.${emptyWord}`)}>
                  {t(`consumerGroups.${emptyWord}Next`)}
                </EmptyState>
              ) : (
                <ConsumerGroupTable
                  groups={nodes}
                  sort={sort}
                  onSort={(order) =>
                    void navigate({ search: (now) => ({ ...now, sort: order }), ...withinPage })
                  }
                />
              )}
              <Pager
                label={t('consumerGroups.pages')}
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
