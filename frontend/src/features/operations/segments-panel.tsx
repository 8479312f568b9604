import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/components/panel';
import { SegmentStrip } from '@/components/segment-strip';
import { SegmentTable } from '@/components/segment-table';
import { SegmentsAs, type SegmentsView } from '@/components/segments-as';
import type { PlanSegments } from './plan-segments';
import classes from './plan-view.module.css';

/** The segments of the logical queues that a plan changes, as they are and as they would be. */
export function SegmentsPanel({ before, after, leftOutCount }: PlanSegments) {
  const { t } = useTranslation();
  const [view, setView] = useState<SegmentsView>('strip');
  const Segments = view === 'table' ? SegmentTable : SegmentStrip;
  const sides = [
    { title: t('plan.segmentsBefore'), queues: before },
    { title: t('plan.segmentsAfter'), queues: after },
  ];
  return (
    <Panel title={t('segments.title')} aside={<SegmentsAs view={view} onView={setView} />}>
      {leftOutCount > 0 ? (
        <p className={classes.lead}>{t('segments.leftOut', { count: leftOutCount })}</p>
      ) : null}
      {sides.map(({ title, queues }) => (
        <div key={title}>
          <h3 className={classes.further}>{title}</h3>
          {queues.length > 0 ? (
            <Segments label={title} queues={queues} />
          ) : (
            <p className={classes.lead}>{t('plan.notThere')}</p>
          )}
        </div>
      ))}
    </Panel>
  );
}
