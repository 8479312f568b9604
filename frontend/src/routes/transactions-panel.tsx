import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Observed } from '@/components/observed';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { UnknownBrokers } from '@/components/unknown-brokers';
import {
  type Transaction,
  transactionsIntervalMs,
  transactionsOf,
} from '@/features/transactions/transaction-queries';
import { type Decision, TransactionTable } from '@/features/transactions/transaction-table';
import { PlanRefusal } from './plan-refusal';
import { usePageTrail } from './use-page-trail';
import { usePlanOrder } from './use-plan-order';

/** The page of pending transactions that the address names; each is decided by way of its plan. */
export function TransactionsPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const { group, topic, after } = useSearch({ from: '/console/transactions' });
  const query = useQuery(transactionsOf({ clusterName, producerGroupName: group, topic }, after));
  const trail = usePageTrail();
  const order = usePlanOrder();
  const { plan } = order;
  const decide = useCallback(
    (one: Transaction, decision: Decision) => {
      const { transactionId, brokerGroupName } = one;
      const meant = { clusterName: one.clusterName, transactionId, brokerGroupName };
      plan(decision === 'commit' ? { commitTransaction: meant } : { rollBackTransaction: meant });
    },
    [plan],
  );
  const emptyWord = group === undefined && topic === undefined ? 'none' : 'noMatch';
  return (
    <Panel
      title={t('transactions.list')}
      aside={
        query.data ? (
          <Observed
            atMs={Date.parse(query.data.data.transactions.observedAt)}
            staleMs={3 * transactionsIntervalMs}
          />
        ) : null
      }
      flush
    >
      <PlanRefusal order={order} />
      <QueryView query={query}>
        {({ transactions: { nodes, totalCount, pageInfo, unknown } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          return (
            <>
              <UnknownBrokers unknown={unknown} />
              {totalCount === 0 ? (
                <EmptyState title={t(`transactions.${emptyWord}`)}>
                  {t(`transactions.${emptyWord}Next`)}
                </EmptyState>
              ) : (
                <>
                  <TransactionTable transactions={nodes} isBusy={order.isBusy} onDecide={decide} />
                  <Pager
                    label={t('transactions.pages')}
                    shown={nodes.length}
                    total={totalCount}
                    onFirst={after ? trail.toFirst : undefined}
                    onPrevious={trail.toPrevious}
                    onNext={next ? () => trail.toNext(next) : undefined}
                  />
                </>
              )}
            </>
          );
        }}
      </QueryView>
    </Panel>
  );
}
