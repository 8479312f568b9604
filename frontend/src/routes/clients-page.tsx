import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { ClientFilters } from '@/features/clients/client-filters';
import { ClientsPanel } from './clients-panel';
import { WithCluster } from './with-cluster';

/** The producers and consumers that are connected to a cluster, page by page. */
export function ClientsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/clients' });
  const chosen = useSearch({ from: '/console/clients' });
  return (
    <Page
      title={t('clients.title')}
      summary={t('clients.summary')}
      actions={
        <ClientFilters
          chosen={chosen}
          // A changed filter begins at the first page again.
          onChoose={(part) =>
            void navigate({
              search: (now) => ({ ...now, ...part, after: undefined }),
              replace: true,
            })
          }
        />
      }
    >
      <WithCluster>{(name) => <ClientsPanel clusterName={name} />}</WithCluster>
    </Page>
  );
}
