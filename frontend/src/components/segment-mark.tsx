import { useTranslation } from 'react-i18next';
import type { SegmentState } from './segments';
import { StateMark, type StateTone } from './state-mark';

const tones: Record<SegmentState, StateTone> = {
  normal: 'good',
  sealed: 'warn',
  readOnly: 'idle',
  expired: 'unknown',
  undecided: 'busy',
  reserved: 'busy',
};

/** What clients can do with a segment. */
export function SegmentMark({ state }: { state: SegmentState }) {
  const { t } = useTranslation();
  return <StateMark tone={tones[state]} label={t(`segments.state.${state}`)} />;
}
