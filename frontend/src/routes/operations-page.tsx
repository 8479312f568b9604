import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { OperationFilters } from '@/features/operations/operation-filters';
import { operationKinds } from '@/features/operations/operation-queries';
import { OperationsPanel } from './operations-panel';
import { WithCluster } from './with-cluster';

/** Every change that was ordered, and how each stands. */
export function OperationsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/operations' });
  const view = useSearch({ from: '/console/operations' });
  const kinds = useQuery(operationKinds).data?.data.operationKinds ?? [];
  return (
    <Page
      title={t('operations.title')}
      summary={t('operations.summary')}
      actions={
        <OperationFilters
          kinds={kinds}
          chosen={view}
          onChoose={(part) =>
            // A changed filter begins at the first page again.
            void navigate({
              search: (now) => ({ ...now, ...part, after: undefined }),
              replace: true,
            })
          }
        />
      }
    >
      <WithCluster>{(name) => <OperationsPanel clusterName={name} />}</WithCluster>
    </Page>
  );
}
