import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Observed } from '@/components/observed';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { WriteButton } from '@/components/write-button';
import {
  type GivenQueue,
  handOverShareQueue,
  resetShareQueue,
} from '@/features/orders/share-queue-orders';
import { ShareMessageTable } from '@/features/share-queues/share-message-table';
import type { ShareQueueName } from '@/features/share-queues/share-queue';
import { ShareQueueFacts } from '@/features/share-queues/share-queue-facts';
import { shareQueueOf, shareQueuesIntervalMs } from '@/features/share-queues/share-queue-queries';
import classes from '@/features/share-queues/share-queues.module.css';
import { OrderModal } from './order-modal';
import { PlanRefusal } from './plan-refusal';
import { usePlanOrder } from './use-plan-order';
import { withinPage } from './within-page';

/** The form that is open over the page. */
function formOf(opened: string | undefined, given: GivenQueue, position: string) {
  if (opened === 'handOver') return handOverShareQueue(given);
  return opened === 'reset' ? resetShareQueue(given, position) : undefined;
}

type OneShareQueueProps = { clusterName: string; name: ShareQueueName };

/** One share queue: who has which message, and what can be ordered of it. */
export function OneShareQueue({ clusterName, name }: OneShareQueueProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/share-queues' });
  const { order: opened } = useSearch({ from: '/console/share-queues' });
  const query = useQuery(shareQueueOf(clusterName, name));
  const order = usePlanOrder();
  const { topic: topicName, ...others } = name;
  const given: GivenQueue = { clusterName, topicName, ...others };
  const show = (wanted: 'reset' | 'handOver' | undefined) =>
    void navigate({ search: (now) => ({ ...now, order: wanted }), ...withinPage });
  const title = t('shareQueues.one', {
    queue: `${name.topic}/${name.queueId}`,
    group: name.consumerGroupName,
  });
  return (
    <QueryView query={query}>
      {({ shareQueue: found }) =>
        found === null ? (
          <Panel title={title} flush>
            <EmptyState title={t('shareQueues.absent')}>{t('shareQueues.absentNext')}</EmptyState>
          </Panel>
        ) : (
          <Panel
            title={title}
            aside={
              <Observed atMs={Date.parse(found.observedAt)} staleMs={3 * shareQueuesIntervalMs} />
            }
          >
            <PlanRefusal order={order} />
            <ShareQueueFacts queue={found.queue} />
            <div className={classes.actions}>
              <WriteButton
                variant="default"
                disabled={order.isBusy || !found.messages.some((one) => one.holder === 'GONE')}
                onClick={() => order.plan({ releaseSharedMessages: given })}
              >
                {t('shareQueues.releaseGone')}
              </WriteButton>
              <WriteButton variant="default" onClick={() => show('reset')}>
                {t('shareQueues.reset')}
              </WriteButton>
              {found.queue.mode === 'SHARED' && (
                <WriteButton variant="default" onClick={() => show('handOver')}>
                  {t('shareQueues.handOver')}
                </WriteButton>
              )}
            </div>
            {found.messages.length === 0 ? (
              <p className={classes.note}>{t('shareQueues.noMessages')}</p>
            ) : (
              <ShareMessageTable
                messages={found.messages}
                isBusy={order.isBusy}
                onRelease={(clientId) =>
                  order.plan({ releaseSharedMessages: { ...given, clientId } })
                }
              />
            )}
            <OrderModal
              kind={formOf(opened, given, found.queue.position)}
              onClose={() => show(undefined)}
            />
          </Panel>
        )
      }
    </QueryView>
  );
}
