import { useTranslation } from 'react-i18next';
import { SegmentBox } from './segment-box';
import classes from './segment-strip.module.css';
import { type LogicalQueue, segmentBoxes } from './segments';

type SegmentStripProps = {
  label: string;
  queues: readonly LogicalQueue[];
};

/** One lane for each logical queue: its segments from the oldest to the one with its messages. */
export function SegmentStrip({ label, queues }: SegmentStripProps) {
  const { t } = useTranslation();
  return (
    // A large strip scrolls, by keys too.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
    <section className={classes.strip} aria-label={label} tabIndex={0}>
      <ol className={classes.lanes}>
        {queues.map((queue) => (
          <li key={queue.globalId} className={classes.lane}>
            <span className={classes.name}>
              {t('segments.queue', { globalId: queue.globalId })}
              <span className={classes.leader}>
                {queue.leaderName === null
                  ? t('segments.noLeader')
                  : t('segments.leader', { leaderName: queue.leaderName })}
              </span>
            </span>
            <ol
              className={classes.segments}
              aria-label={t('segments.queue', { globalId: queue.globalId })}
            >
              {segmentBoxes(queue).map((segment) => (
                <SegmentBox key={segment.generation} segment={segment} />
              ))}
            </ol>
          </li>
        ))}
      </ol>
    </section>
  );
}
