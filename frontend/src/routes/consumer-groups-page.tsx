import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { SearchField } from '@/components/search-field';
import { ConsumerGroupsPanel } from './consumer-groups-panel';
import { WithCluster } from './with-cluster';

/** Every consumer group of a cluster, page by page. */
export function ConsumerGroupsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/consumer-groups' });
  const { search } = useSearch({ from: '/console/consumer-groups' });
  return (
    <Page
      title={t('consumerGroups.title')}
      actions={
        <search>
          <SearchField
            label={t('consumerGroups.search')}
            search={search}
            // A changed filter begins at the first page again.
            onSearch={(text) =>
              void navigate({
                search: (now) => ({ ...now, search: text, after: undefined }),
                replace: true,
              })
            }
          />
        </search>
      }
    >
      <WithCluster>{(name) => <ConsumerGroupsPanel clusterName={name} />}</WithCluster>
    </Page>
  );
}
