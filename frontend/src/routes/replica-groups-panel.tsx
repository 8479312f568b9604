import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { GroupTable } from '@/features/replica-groups/group-table';
import { HowToReplicate } from '@/features/replica-groups/how-to-replicate';
import { replicaGroupsOf } from '@/features/replica-groups/replica-group-queries';
import { usePageTrail } from './use-page-trail';
import { withinPage } from './within-page';

/** The page of groups that the address names, and the ways to the pages beside it. */
export function ReplicaGroupsPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/replica-groups' });
  const { search, after, sort } = useSearch({ from: '/console/replica-groups' });
  const query = useQuery(replicaGroupsOf(clusterName, { search, after }));
  const trail = usePageTrail();
  const empty =
    search === undefined ? (
      <EmptyState title={t('replicaGroups.none')}>
        <HowToReplicate />
      </EmptyState>
    ) : (
      <EmptyState title={t('replicaGroups.noMatch')}>{t('replicaGroups.noMatchNext')}</EmptyState>
    );
  return (
    <Panel title={t('replicaGroups.list')} aside={<Answered atMs={query.dataUpdatedAt} />} flush>
      <QueryView query={query} needs="cluster">
        {({ cluster }) => {
          if (cluster === null) {
            return <EmptyState title={t('cluster.unknownTitle', { name: clusterName })} />;
          }
          const { nodes, totalCount, pageInfo } = cluster.replicaGroups;
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          if (totalCount === 0) return empty;
          return (
            <>
              <GroupTable
                groups={nodes}
                sort={sort}
                onSort={(order) =>
                  void navigate({ search: (now) => ({ ...now, sort: order }), ...withinPage })
                }
              />
              <Pager
                label={t('replicaGroups.pages')}
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
