import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Page } from '@/components/page';
import { QueryView } from '@/components/query-view';
import { clientOf } from '@/features/clients/client-queries';
import { ClientSections } from '@/features/clients/client-sections';
import { useClusterName } from './use-cluster-name';
import { WithCluster } from './with-cluster';

/** One client: what it does, and each broker that it is connected to. */
export function ClientPage() {
  const { t } = useTranslation();
  const { clientId } = useParams({ from: '/console/clients/$clientId' });
  const clusterName = useClusterName() ?? '';
  const query = useQuery({ ...clientOf(clusterName, clientId), enabled: clusterName !== '' });
  const back = (
    <Link to="/clients" search={(now) => (now.cluster ? { cluster: now.cluster } : {})}>
      ← {t('clients.title')}
    </Link>
  );
  return (
    <Page title={clientId} crumb={back}>
      <WithCluster>
        {() => (
          <QueryView query={query}>
            {({ client }, observedAtMs) =>
              client ? (
                <ClientSections found={client} observedAtMs={observedAtMs} />
              ) : (
                <EmptyState title={t('clients.missing', { id: clientId })}>
                  {t('clients.missingNext')}
                </EmptyState>
              )
            }
          </QueryView>
        )}
      </WithCluster>
    </Page>
  );
}
