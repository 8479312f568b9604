import { useTranslation } from 'react-i18next';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { formatCount, formatInt64, formatSpan } from '@/lib/format';
import type { ShareQueue } from './share-queue';

/** How a share queue is served, and what was done with its messages since its owner leads. */
export function ShareQueueFacts({ queue }: { queue: ShareQueue }) {
  const { t } = useTranslation();
  const counted = t('shareQueues.counted', { span: formatSpan(Number(queue.countedMs)) });
  const waiting =
    queue.waiters.length === 0
      ? undefined
      : t('shareQueues.waiting', { brokers: queue.waiters.join(', ') });
  const counts = [
    ['delivered', queue.deliveredCount],
    ['redelivered', queue.redeliveredCount],
    ['accepted', queue.acceptedCount],
    ['deadLetters', queue.deadLetterCount],
    ['discarded', queue.discardedCount],
    ['retried', queue.retriedCount],
  ] as const;
  return (
    <Facts>
      <Fact
        label={t('shareQueues.owner')}
        foot={t('shareQueues.epoch', { epoch: queue.leaseEpoch })}
      >
        {queue.owner ?? t('shareQueues.noOwner')}
      </Fact>
      <Fact label={t('shareQueues.mode')} foot={waiting}>
        {queue.mode}
      </Fact>
      <Fact label={t('shareQueues.consumeMode')}>
        {queue.consumeMode ?? t('shareQueues.unset')}
      </Fact>
      <Fact label={t('shareQueues.window')} foot={t('shareQueues.end', { end: queue.maxOffset })}>
        {formatInt64(queue.position)} – {formatInt64(queue.windowEnd)}
      </Fact>
      <Fact label={t('shareQueues.attempts')}>{formatCount(queue.attemptCountMax)}</Fact>
      {counts.map(([word, count]) => (
        <Fact key={word} label={t(`shareQueues.${word}`)} foot={counted}>
          {formatInt64(count)}
        </Fact>
      ))}
    </Facts>
  );
}
