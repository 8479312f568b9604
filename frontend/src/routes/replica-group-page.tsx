import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Page } from '@/components/page';
import { QueryView } from '@/components/query-view';
import { GroupHealth } from '@/features/replica-groups/group-health';
import { HowToReplicate } from '@/features/replica-groups/how-to-replicate';
import { replicaGroupOf } from '@/features/replica-groups/replica-group-queries';
import { StaticTopicsPanel } from '@/features/topics/static-topics-panel';
import { AdoptionPanel } from './adoption-panel';
import { FixedGroup } from './fixed-group';
import { GroupActions } from './group-actions';
import { MigrateQueues } from './migrate-queues';
import { PlanRefusal } from './plan-refusal';
import { ReplicaGroupSections } from './replica-group-sections';
import { useClusterName } from './use-cluster-name';
import { usePlanOrder } from './use-plan-order';
import { WithCluster } from './with-cluster';

/** One group: who leads it, who could, how their logs agree, and what happened to it. */
export function ReplicaGroupPage() {
  const { t } = useTranslation();
  const { brokerGroupName } = useParams({ from: '/console/replica-groups/$brokerGroupName' });
  const clusterName = useClusterName() ?? '';
  const key = { clusterName, brokerGroupName };
  const query = useQuery({ ...replicaGroupOf(key), enabled: clusterName !== '' });
  const known = query.data?.data.group;
  const order = usePlanOrder();
  const back = (
    <Link to="/replica-groups" search={(now) => (now.cluster ? { cluster: now.cluster } : {})}>
      ← {t('replicaGroup.back')}
    </Link>
  );
  return (
    <Page
      title={brokerGroupName}
      crumb={back}
      actions={
        <>
          {known ? <GroupActions group={known} order={order} /> : null}
          <MigrateQueues groupKey={key} />
        </>
      }
      summary={known ? <GroupHealth group={known} asked={query} /> : null}
    >
      <PlanRefusal order={order} />
      <WithCluster>
        {() => (
          <>
            <QueryView query={query}>
              {({ group }, observedAtMs) =>
                group ? (
                  <ReplicaGroupSections group={group} groupKey={key} observedAtMs={observedAtMs} />
                ) : (
                  <FixedGroup
                    groupKey={key}
                    missing={
                      <>
                        <EmptyState
                          title={t('replicaGroup.missing', {
                            group: brokerGroupName,
                            cluster: clusterName,
                          })}
                        >
                          <HowToReplicate />
                        </EmptyState>
                        <AdoptionPanel />
                      </>
                    }
                  />
                )
              }
            </QueryView>
            <StaticTopicsPanel {...key} />
          </>
        )}
      </WithCluster>
    </Page>
  );
}
