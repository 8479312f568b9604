import { useTranslation } from 'react-i18next';
import { formatInt64 } from '@/lib/format';
import classes from './segment-strip.module.css';
import type { SegmentBoxData, SegmentState } from './segments';
import { StateMark, type StateTone } from './state-mark';

const tones: Record<SegmentState, StateTone> = {
  normal: 'good',
  sealed: 'warn',
  readOnly: 'idle',
  expired: 'unknown',
  undecided: 'busy',
};

/** One segment: where it is stored, its offsets, and what clients can do with it. */
export function SegmentBox({ segment }: { segment: SegmentBoxData }) {
  const { t } = useTranslation();
  const { brokerGroupName, queueId, generation, state, share } = segment;
  return (
    <li className={classes.segment} data-state={state} style={{ flexGrow: share }}>
      <span className={classes.place}>{t('segments.place', { brokerGroupName, queueId })}</span>
      <span className={classes.offsets}>
        {t('segments.logical', {
          start: offsetText(segment.logicalStart, t('segments.undecided')),
          end: offsetText(segment.end, t('segments.open')),
        })}
      </span>
      <span className={classes.physical}>
        {segment.physicalStart === null
          ? t('segments.generation', { generation })
          : t('segments.physical', {
              generation,
              start: formatInt64(segment.physicalStart),
              end: offsetText(segment.physicalEnd, t('segments.open')),
            })}
      </span>
      <StateMark tone={tones[state]} label={t(`segments.state.${state}`)} />
    </li>
  );
}

function offsetText(offset: string | null, absent: string): string {
  return offset === null ? absent : formatInt64(offset);
}
