import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { SearchField } from '@/components/search-field';
import { AdoptionPanel } from './adoption-panel';
import { ReplicaGroupsPanel } from './replica-groups-panel';
import { WithCluster } from './with-cluster';

/** Every broker group of a cluster whose master the controller elects. */
export function ReplicaGroupsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/replica-groups' });
  const { search } = useSearch({ from: '/console/replica-groups' });
  return (
    <Page
      title={t('replicaGroups.title')}
      actions={
        <search>
          <SearchField
            label={t('replicaGroups.search')}
            search={search}
            onSearch={(text) =>
              // A changed filter begins at the first page again.
              void navigate({
                search: (now) => ({ ...now, search: text, after: undefined }),
                replace: true,
              })
            }
          />
        </search>
      }
    >
      <AdoptionPanel />
      <WithCluster>{(name) => <ReplicaGroupsPanel clusterName={name} />}</WithCluster>
    </Page>
  );
}
