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
import type { ShareQueue } from '@/features/share-queues/share-queue';
import { shareQueuesIntervalMs, shareQueuesOf } from '@/features/share-queues/share-queue-queries';
import { ShareQueueTable } from '@/features/share-queues/share-queue-table';
import { usePageTrail } from './use-page-trail';
import { withinPage } from './within-page';

/** The page of share queues that the address names. */
export function ShareQueuesPanel({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/share-queues' });
  const { group, topic, after } = useSearch({ from: '/console/share-queues' });
  const query = useQuery(shareQueuesOf({ clusterName, consumerGroupName: group, topic }, after));
  const trail = usePageTrail();
  const show = useCallback(
    (queue: ShareQueue) =>
      void navigate({
        search: (now) => ({
          ...now,
          ofGroup: queue.consumerGroupName,
          ofTopic: queue.topic,
          ofBroker: queue.brokerGroupName,
          ofQueue: String(queue.queueId),
        }),
        ...withinPage,
      }),
    [navigate],
  );
  const emptyWord = group === undefined && topic === undefined ? 'none' : 'noMatch';
  return (
    <QueryView query={query}>
      {({ shareQueues: { nodes, totalCount, pageInfo, observedAt, unknown } }) => {
        const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
        return (
          <Panel
            title={t('shareQueues.list')}
            aside={<Observed atMs={Date.parse(observedAt)} staleMs={3 * shareQueuesIntervalMs} />}
            flush
          >
            <UnknownBrokers unknown={unknown} />
            {totalCount === 0 ? (
              <EmptyState title={t(`shareQueues.${emptyWord}`)}>
                {t(`shareQueues.${emptyWord}Next`)}
              </EmptyState>
            ) : (
              <>
                <ShareQueueTable queues={nodes} onShow={show} />
                <Pager
                  label={t('shareQueues.pages')}
                  shown={nodes.length}
                  total={totalCount}
                  onFirst={after ? trail.toFirst : undefined}
                  onPrevious={trail.toPrevious}
                  onNext={next ? () => trail.toNext(next) : undefined}
                />
              </>
            )}
          </Panel>
        );
      }}
    </QueryView>
  );
}
