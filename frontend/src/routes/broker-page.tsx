import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Page } from '@/components/page';
import { QueryView } from '@/components/query-view';
import { isCordoned } from '@/features/brokers/broker';
import { BrokerFacts } from '@/features/brokers/broker-facts';
import { brokerConfigOf, brokerOf } from '@/features/brokers/broker-queries';
import { brokerKey } from '@/lib/live/broker-key';
import { newerOf } from '@/lib/live/sample-cache';
import { useLatestSamples } from '@/lib/live/use-samples';
import { BrokerActions } from './broker-actions';
import { BrokerPhase } from './broker-phase';
import { PlanRefusal } from './plan-refusal';
import { SettingsPanel } from './settings-panel';
import { useClusterName } from './use-cluster-name';
import { usePlanOrder } from './use-plan-order';
import { WithCluster } from './with-cluster';

/** One broker: its role and epoch, what it may do, its disk, what it is set to. */
export function BrokerPage() {
  const { t } = useTranslation();
  const { brokerName } = useParams({ from: '/console/brokers/$brokerName' });
  const clusterName = useClusterName() ?? '';
  const query = useQuery({ ...brokerOf(clusterName, brokerName), enabled: clusterName !== '' });
  const broker = query.data?.data.broker;
  const meant = {
    clusterName,
    brokerGroupName: broker?.brokerGroupName ?? '',
    brokerId: broker?.ownId ?? '',
  };
  const config = useQuery({
    ...brokerConfigOf(meant, brokerName),
    enabled: broker?.name === brokerName,
  });
  const latest = useLatestSamples();
  const order = usePlanOrder();
  const cordoned = isCordoned(config.data?.data.brokerConfig.properties ?? []);
  if (broker && broker.name !== brokerName) {
    return <Navigate to="." params={{ brokerName: broker.name }} search={(now) => now} replace />;
  }
  return (
    <Page
      title={brokerName}
      crumb={
        <Link to="/topology" search={(now) => (now.cluster ? { cluster: now.cluster } : {})}>
          ← {t('nav.topology')}
        </Link>
      }
      actions={
        broker ? (
          <BrokerActions meant={meant} broker={broker} isCordoned={cordoned} order={order} />
        ) : null
      }
    >
      <PlanRefusal order={order} />
      <WithCluster>
        {() => (
          <QueryView query={query}>
            {({ broker }) =>
              broker ? (
                <>
                  <BrokerFacts
                    broker={broker}
                    sample={newerOf(
                      latest[brokerKey({ clusterName, brokerName })],
                      broker.latestSample,
                    )}
                    isCordoned={cordoned}
                  />
                  {broker.replica === null ? (
                    <BrokerPhase groupKey={meant} brokerName={brokerName} />
                  ) : null}
                </>
              ) : (
                <EmptyState title={t('broker.missing', { broker: brokerName })}>
                  {t('broker.missingNext')}
                </EmptyState>
              )
            }
          </QueryView>
        )}
      </WithCluster>
      {broker ? <SettingsPanel broker={meant} brokerName={brokerName} query={config} /> : null}
    </Page>
  );
}
