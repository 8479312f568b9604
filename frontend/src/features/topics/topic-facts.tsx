import { useTranslation } from 'react-i18next';
import { Figure } from '@/components/figure';
import { Observed } from '@/components/observed';
import { formatBytes, formatRate } from '@/lib/format';
import { readingOf } from '@/lib/reading';
import { OffsetFigure } from './offset-figure';
import { messagesHeld, queueRows, type TopicDetail } from './topic-detail';
import classes from './topic-facts.module.css';

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
    <dl className={classes.facts}>
      <div>
        <dt>{t('topic.kind')}</dt>
        <dd>{t(`topicKind.${topic.kind}`)}</dd>
      </div>
      <div>
        <dt>{t('topic.messagesIn')}</dt>
        <dd>
          <Figure
            reading={readingOf(topic, (row) => row.messagesInPerSecond)}
            format={formatRate}
            unit={t('unit.perSecond')}
          />
        </dd>
        <dd>{observed}</dd>
      </div>
      <div>
        <dt>{t('topic.bytesIn')}</dt>
        <dd>
          <Figure
            reading={readingOf(topic, (row) => row.bytesInPerSecond)}
            format={formatBytes}
            unit={t('unit.perSecond')}
          />
        </dd>
        <dd>{observed}</dd>
      </div>
      <div>
        <dt>{t('topic.held')}</dt>
        <dd>
          <OffsetFigure offset={held.total} />
        </dd>
        <dd>
          {partial
            ? t('topic.heldOf', { counted: held.counted, total: topic.queues.length })
            : observed}
        </dd>
      </div>
      <div>
        <dt>{t('topic.queues')}</dt>
        <dd>{topic.queues.length}</dd>
      </div>
    </dl>
  );
}
