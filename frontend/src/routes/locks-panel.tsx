import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Observed } from '@/components/observed';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { UnknownBrokers } from '@/components/unknown-brokers';
import type { Lock } from '@/features/locks/lock';
import { locksIntervalMs, locksOf } from '@/features/locks/lock-queries';
import { LockTable } from '@/features/locks/lock-table';
import { PlanRefusal } from './plan-refusal';
import { usePageTrail } from './use-page-trail';
import { usePlanOrder } from './use-plan-order';

/** The page of locks that the address names; each is released by way of its plan. */
export function LocksPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/locks' });
  const { group, topic, client, holder, after } = useSearch({ from: '/console/locks' });
  const chosen = { clusterName, consumerGroupName: group, topic, clientId: client, holder };
  const query = useQuery(locksOf(chosen, after));
  const trail = usePageTrail();
  const order = usePlanOrder();
  const { plan } = order;
  const release = useCallback(
    (lock: Lock) => {
      const { clientId, consumerGroupName, brokerGroupName, queueId } = lock;
      const one = { clientId, consumerGroupName, topic: lock.topic, brokerGroupName, queueId };
      plan({ releaseLocks: { clusterName: lock.clusterName, ...one } });
    },
    [plan],
  );
  const releaseAll = useCallback(
    (lock: Lock) =>
      plan({ releaseLocks: { clusterName: lock.clusterName, clientId: lock.clientId } }),
    [plan],
  );
  const explain = useCallback(
    (lock: Lock) =>
      void navigate({
        search: (now) => ({
          ...now,
          whyGroup: lock.consumerGroupName,
          whyTopic: lock.topic,
          whyBroker: lock.brokerGroupName,
          whyQueue: String(lock.queueId),
        }),
        state: (now) => now,
        resetScroll: false,
      }),
    [navigate],
  );
  const isNarrowed = [group, topic, client, holder].some((one) => one !== undefined);
  const emptyWord = isNarrowed ? 'noMatch' : 'none';
  return (
    <Panel
      title={t('locks.list')}
      aside={
        query.data ? (
          <Observed
            atMs={Date.parse(query.data.data.locks.observedAt)}
            staleMs={3 * locksIntervalMs}
          />
        ) : null
      }
      flush
    >
      <PlanRefusal order={order} />
      <QueryView query={query}>
        {({ locks: { nodes, totalCount, pageInfo, observedAt, unknown } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          return (
            <>
              <UnknownBrokers unknown={unknown} />
              {totalCount === 0 ? (
                <EmptyState title={t(`locks.${emptyWord}`)}>
                  {t(`locks.${emptyWord}Next`)}
                </EmptyState>
              ) : (
                <>
                  <LockTable
                    locks={nodes}
                    observedAt={observedAt}
                    isBusy={order.isBusy}
                    onRelease={release}
                    onReleaseAll={releaseAll}
                    onExplain={explain}
                  />
                  <Pager
                    label={t('locks.pages')}
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
