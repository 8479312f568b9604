import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { BrokersPanel } from './brokers-panel';
import { TopologyOverview } from './topology-overview';
import { WithCluster } from './with-cluster';
import { withinPage } from './within-page';

/** Who is there and how they hang together: a picture, and tables that say the same. */
export function TopologyPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/topology' });
  const { sort } = useSearch({ from: '/console/topology' });
  return (
    <WithCluster>
      {(clusterName) => (
        <Page title={t('topology.title')}>
          <TopologyOverview clusterName={clusterName}>
            <BrokersPanel
              clusterName={clusterName}
              sort={sort}
              onSort={(next) =>
                void navigate({ search: (now) => ({ ...now, sort: next }), ...withinPage })
              }
            />
          </TopologyOverview>
        </Page>
      )}
    </WithCluster>
  );
}
