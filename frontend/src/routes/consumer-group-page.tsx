import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Page } from '@/components/page';
import { QueryView } from '@/components/query-view';
import { consumerGroupOf } from '@/features/consumer-groups/consumer-group-queries';
import { ConsumerGroupSections } from '@/features/consumer-groups/consumer-group-sections';
import { ConsumerGroupActions } from './consumer-group-actions';
import { DeadLettersPanel } from './dead-letters-panel';
import { useClusterName } from './use-cluster-name';
import { useStaticTopics } from './use-static-topics';
import { WithCluster } from './with-cluster';
import { withinPage } from './within-page';

/** One consumer group: who is there, and how far it is in each queue. */
export function ConsumerGroupPage() {
  const { t } = useTranslation();
  const { consumerGroup: name } = useParams({ from: '/console/consumer-groups/$consumerGroup' });
  const { sort } = useSearch({ from: '/console/consumer-groups/$consumerGroup' });
  const navigate = useNavigate({ from: '/consumer-groups/$consumerGroup' });
  const clusterName = useClusterName() ?? '';
  const query = useQuery({ ...consumerGroupOf(clusterName, name), enabled: clusterName !== '' });
  const group = query.data?.data.consumerGroup;
  const staticTopics = useStaticTopics(clusterName);
  const back = (
    <Link to="/consumer-groups" search={(now) => (now.cluster ? { cluster: now.cluster } : {})}>
      ← {t('consumerGroup.back')}
    </Link>
  );
  return (
    <Page
      title={name}
      crumb={back}
      actions={
        group && !group.isSystem ? (
          <ConsumerGroupActions clusterName={clusterName} group={group} />
        ) : null
      }
    >
      <WithCluster>
        {() => (
          <QueryView query={query}>
            {({ consumerGroup }, observedAtMs) =>
              consumerGroup ? (
                <>
                  <ConsumerGroupSections
                    group={consumerGroup}
                    staticTopics={staticTopics}
                    observedAtMs={observedAtMs}
                    sort={sort}
                    onSort={(next) =>
                      void navigate({ search: (now) => ({ ...now, sort: next }), ...withinPage })
                    }
                  />
                  {consumerGroup.isSystem ? null : (
                    <DeadLettersPanel clusterName={clusterName} consumerGroupName={name} />
                  )}
                </>
              ) : (
                <EmptyState title={t('consumerGroup.missing', { name })}>
                  {t('consumerGroup.missingNext')}
                </EmptyState>
              )
            }
          </QueryView>
        )}
      </WithCluster>
    </Page>
  );
}
