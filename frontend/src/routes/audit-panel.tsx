import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { type AuditFilter, auditOf } from '@/features/audit/audit-queries';
import { AuditTable } from '@/features/audit/audit-table';
import { usePageTrail } from './use-page-trail';

type AuditPanelProps = { filter: AuditFilter; after: string | undefined };

/** The page of the audit that the address names, and the ways to the pages beside it. */
export function AuditPanel({ filter, after }: AuditPanelProps) {
  const { t } = useTranslation();
  const query = useQuery(auditOf(filter, after));
  const trail = usePageTrail();
  const isNarrowed = Object.values(filter).some((value) => value !== undefined);
  const emptyWord = isNarrowed ? 'noMatch' : 'none';
  return (
    <Panel title={t('audit.list')} aside={<Answered atMs={query.dataUpdatedAt} followed />} flush>
      <QueryView query={query}>
        {({ auditEntries: { nodes, totalCount, pageInfo } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          if (totalCount === 0) {
            return (
              <EmptyState title={t(`audit.${emptyWord}`)}>{t(`audit.${emptyWord}Next`)}</EmptyState>
            );
          }
          return (
            <>
              <AuditTable entries={nodes} />
              <Pager
                label={t('audit.pages')}
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
