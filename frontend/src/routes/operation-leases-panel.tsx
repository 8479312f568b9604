import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { operationLeasesOf } from '@/features/locks/lock-queries';
import { OperationLeaseTable } from '@/features/locks/operation-lease-table';

/** The operations that workers hold now, the newest first. */
export function OperationLeasesPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const query = useQuery(operationLeasesOf(clusterName));
  return (
    <Panel title={t('operationLeases.title')} aside={<Answered atMs={query.dataUpdatedAt} />} flush>
      <QueryView query={query}>
        {({ operationLeases: { nodes } }) =>
          nodes.length === 0 ? (
            <EmptyState title={t('operationLeases.empty')}>
              {t('operationLeases.emptyNext')}
            </EmptyState>
          ) : (
            <OperationLeaseTable leases={nodes} />
          )
        }
      </QueryView>
    </Panel>
  );
}
