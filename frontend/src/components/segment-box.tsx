import { useTranslation } from 'react-i18next';
import { LogicalRange } from './logical-range';
import { PhysicalRange } from './physical-range';
import { SegmentMark } from './segment-mark';
import classes from './segment-strip.module.css';
import type { SegmentBoxData } from './segments';

/** One segment: where it is stored, its offsets, and what clients can do with it. */
export function SegmentBox({ segment }: { segment: SegmentBoxData }) {
  const { t } = useTranslation();
  const { brokerGroupName, queueId, generation, state, share } = segment;
  return (
    <li className={classes.segment} data-state={state} style={{ flexGrow: share }}>
      <span className={classes.head}>
        <span className={classes.place}>{t('segments.place', { brokerGroupName, queueId })}</span>
        <SegmentMark state={state} />
      </span>
      <span className={classes.offsets}>
        {segment.logicalStart === null ? null : `${t('segments.offsets')} `}
        <LogicalRange segment={segment} />
      </span>
      <span className={classes.physical}>
        {t('segments.generation', { generation })}
        {segment.physicalStart === null ? null : (
          <>
            {' · '}
            {t('segments.stored')} <PhysicalRange segment={segment} />
          </>
        )}
      </span>
    </li>
  );
}
