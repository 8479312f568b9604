import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { TopicFilters } from '@/features/topics/topic-filters';
import { TopicsActions } from './topics-actions';
import { TopicsPanel } from './topics-panel';
import type { TopicsSearch } from './topics-route';
import { useClusterName } from './use-cluster-name';
import { WithCluster } from './with-cluster';

/** Every topic of a cluster, page by page. */
export function TopicsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/topics' });
  const view = useSearch({ from: '/console/topics' });
  const clusterName = useClusterName();
  // A changed filter begins at the first page again.
  const narrow = (change: TopicsSearch) =>
    void navigate({ search: (now) => ({ ...now, ...change, after: undefined }), replace: true });
  return (
    <Page
      title={t('topics.title')}
      actions={
        <>
          <TopicFilters
            search={view.search}
            kind={view.kind}
            onSearch={(search) => narrow({ search })}
            onKind={(kind) => narrow({ kind })}
          />
          {clusterName === undefined ? null : <TopicsActions clusterName={clusterName} />}
        </>
      }
    >
      <WithCluster>{(name) => <TopicsPanel clusterName={name} />}</WithCluster>
    </Page>
  );
}
