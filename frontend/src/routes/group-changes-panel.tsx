import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { ChangeTable } from '@/features/replica-groups/change-table';
import { type GroupKey, groupChangesOf } from '@/features/replica-groups/replica-group-queries';
import { usePageTrail } from './use-page-trail';

type GroupChangesPanelProps = { groupKey: GroupKey; after: string | undefined };

/** The history of a group, page by page. */
export function GroupChangesPanel({ groupKey, after }: GroupChangesPanelProps) {
  const { t } = useTranslation();
  const query = useQuery(groupChangesOf(groupKey, after));
  const trail = usePageTrail();
  const pageInfo = query.data?.data.changes?.pageInfo;
  const next = pageInfo?.hasNextPage ? pageInfo.endCursor : null;
  // The text of the oldest change of a page needs the change before it, which is on the next page.
  const following = useQuery({
    ...groupChangesOf(groupKey, next ?? undefined),
    enabled: next !== null && !query.isPlaceholderData,
    refetchInterval: false,
    placeholderData: undefined,
  });
  const earlier = next === null ? undefined : following.data?.data.changes?.nodes[0];
  return (
    <Panel
      title={t('changes.title')}
      aside={<Answered atMs={query.dataUpdatedAt} followed />}
      flush
    >
      <QueryView query={query} needs="changes">
        {({ changes }) =>
          changes === null || changes.totalCount === 0 ? (
            <EmptyState title={t('changes.none')} />
          ) : (
            <>
              <ChangeTable changes={changes.nodes} earlier={earlier} />
              <Pager
                label={t('changes.pages')}
                shown={changes.nodes.length}
                total={changes.totalCount}
                onFirst={after ? trail.toFirst : undefined}
                onPrevious={trail.toPrevious}
                onNext={next ? () => trail.toNext(next) : undefined}
              />
            </>
          )
        }
      </QueryView>
    </Panel>
  );
}
