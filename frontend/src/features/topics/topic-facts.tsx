import { useTranslation } from 'react-i18next';
import { Fact } from '@/components/fact';
import { Facts } from '@/components/facts';
import { Figure } from '@/components/figure';
import { Observed } from '@/components/observed';
import { ProtectionFact } from '@/components/protection-fact';
import { formatBytes, formatRate } from '@/lib/format';
import { readingOf } from '@/lib/reading';
import { OffsetFigure } from './offset-figure';
import { messagesHeld, queueRows, type TopicDetail } from './topic-detail';

function oldestObservation(topic: TopicDetail): number | null {
  const times = topic.queues.flatMap((queue) =>
    queue.observedAt === null ? [] : [Date.parse(queue.observedAt)],
  );
  return times.length > 0 ? Math.min(...times) : null;
}

/** The topic's figures in one line. */
export function TopicFacts({ topic }: { topic: TopicDetail }) {
  const { t } = useTranslation();
  const held = messagesHeld(queueRows(topic.queues));
  const observedAtMs = oldestObservation(topic);
  const partial = held.counted > 0 && held.counted < topic.queues.length;
  const observed = observedAtMs === null ? null : <Observed atMs={observedAtMs} />;
  return (
    <Facts>
      <Fact label={t('topic.kind')}>{t(`topicKind.${topic.kind}`)}</Fact>
      <Fact label={t('topic.messagesIn')} foot={observed}>
        <Figure
          reading={readingOf(topic, (row) => row.messagesInPerSecond)}
          format={formatRate}
          unit={t('unit.perSecond')}
        />
      </Fact>
      <Fact label={t('topic.bytesIn')} foot={observed}>
        <Figure
          reading={readingOf(topic, (row) => row.bytesInPerSecond)}
          format={formatBytes}
          unit={t('unit.perSecond')}
        />
      </Fact>
      <Fact
        label={t('topic.held')}
        foot={
          partial
            ? t('topic.heldOf', { counted: held.counted, total: topic.queues.length })
            : observed
        }
      >
        <OffsetFigure offset={held.total} />
      </Fact>
      <Fact label={t('topic.queues')}>{topic.queues.length}</Fact>
      <ProtectionFact protection={topic.protection} />
    </Facts>
  );
}
