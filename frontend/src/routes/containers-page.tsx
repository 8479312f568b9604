import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { WriteButton } from '@/components/write-button';
import { addBroker } from '@/features/orders/container-orders';
import { ContainersPanel } from './containers-panel';
import { OrderModal } from './order-modal';
import { useClusterName } from './use-cluster-name';
import { WithCluster } from './with-cluster';
import { withinPage } from './within-page';

/** The processes that run several brokers, and what can be ordered of them. */
export function ContainersPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/containers' });
  const { order } = useSearch({ from: '/console/containers' });
  const clusterName = useClusterName();
  const show = (wanted: 'add' | undefined) =>
    void navigate({ search: (now) => ({ ...now, order: wanted }), ...withinPage });
  return (
    <Page
      title={t('nav.containers')}
      summary={t('containers.summary')}
      actions={
        clusterName === undefined ? null : (
          <>
            <WriteButton data-act variant="default" onClick={() => show('add')}>
              {t('containers.add')}
            </WriteButton>
            <OrderModal
              kind={order === 'add' ? addBroker(clusterName) : undefined}
              onClose={() => show(undefined)}
            />
          </>
        )
      }
    >
      <WithCluster>{(name) => <ContainersPanel clusterName={name} />}</WithCluster>
    </Page>
  );
}
