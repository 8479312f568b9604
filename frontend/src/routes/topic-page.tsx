import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Page } from '@/components/page';
import { QueryView } from '@/components/query-view';
import { topicOf } from '@/features/topics/topic-queries';
import { TopicSections } from '@/features/topics/topic-sections';
import { TopicActions } from './topic-actions';
import type { TopicSearch } from './topic-route';
import { useClusterName } from './use-cluster-name';
import { WithCluster } from './with-cluster';
import { withinPage } from './within-page';

/** One topic: where it lies, how far its queues reach, and which route clients get. */
export function TopicPage() {
  const { t } = useTranslation();
  const { topicName } = useParams({ from: '/console/topics/$topicName' });
  const { sort, segments } = useSearch({ from: '/console/topics/$topicName' });
  const navigate = useNavigate({ from: '/topics/$topicName' });
  const change = (part: TopicSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part }), ...withinPage });
  const clusterName = useClusterName() ?? '';
  const query = useQuery({ ...topicOf(clusterName, topicName), enabled: clusterName !== '' });
  const known = query.data?.data.topic;
  const back = (
    <Link to="/topics" search={(now) => (now.cluster ? { cluster: now.cluster } : {})}>
      ← {t('topic.back')}
    </Link>
  );
  return (
    <Page
      title={topicName}
      crumb={back}
      actions={known && known.kind !== 'SYSTEM' ? <TopicActions topic={known} /> : null}
    >
      <WithCluster>
        {() => (
          <QueryView query={query}>
            {({ topic }, observedAtMs) =>
              topic ? (
                <TopicSections
                  topic={topic}
                  observedAtMs={observedAtMs}
                  sort={sort}
                  onSort={(next) => change({ sort: next })}
                  segments={segments ?? 'strip'}
                  onSegments={(view) => change({ segments: view })}
                />
              ) : (
                <EmptyState title={t('topic.missing', { name: topicName })}>
                  {t('topic.missingNext')}
                </EmptyState>
              )
            }
          </QueryView>
        )}
      </WithCluster>
    </Page>
  );
}
