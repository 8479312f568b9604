import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Notice } from '@/components/notice';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { OrderForm } from '@/features/orders/order-form';
import { adoptReplicas } from '@/features/orders/replica-group-orders';
import { lostGroups } from '@/features/replica-groups/adoption';
import { CandidateTable } from '@/features/replica-groups/candidate-table';
import { adoptionCandidates } from '@/features/replica-groups/replica-group-queries';
import { WithOrder } from './with-order';

/** Brokers whose group the control plane lost, and how they are taken in again (D6). */
export function AdoptionPanel() {
  const { t } = useTranslation();
  const query = useQuery(adoptionCandidates);
  if (query.data?.data.adoptionCandidates.totalCount === 0) return null;
  if (query.data === undefined && query.error === null) return null;
  return (
    <QueryView query={query}>
      {({ adoptionCandidates: { nodes, totalCount } }) => (
        <>
          {nodes.length < totalCount ? (
            <Notice
              tone="warn"
              title={t('adopt.more', { shown: nodes.length, total: totalCount })}
            />
          ) : null}
          {lostGroups(nodes).map((lost) => (
            <Panel
              key={`${lost.clusterName}/${lost.brokerGroupName}`}
              title={t('adopt.title', { group: lost.brokerGroupName, cluster: lost.clusterName })}
              flush
            >
              <CandidateTable lost={lost} />
              <WithOrder>
                {(order) => (
                  <OrderForm
                    kind={adoptReplicas(lost)}
                    isBusy={order.isBusy}
                    refusal={order.error}
                    onPlan={order.plan}
                    isInPage
                  />
                )}
              </WithOrder>
            </Panel>
          ))}
        </>
      )}
    </QueryView>
  );
}
