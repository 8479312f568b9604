import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { formatSeconds } from '@/lib/format';
import type { BrokerTimers } from './timer-queries';

/** A slot of the wheel is a second, and the wheel looks ten times a second. */
const lateFromMs = 1_100;

/** Whether a broker delivers in time; why it stands still, or how late it is. */
export function TimerState({ timers }: { timers: BrokerTimers }) {
  const { t } = useTranslation();
  const behindMs = Number(timers.behindMs);
  const late = formatSeconds(behindMs);
  if (timers.hindrance !== null) {
    const label = t('timers.standsStill', { why: timers.hindrance, late });
    return <StateMark tone="bad" wraps label={label} />;
  }
  if (behindMs >= lateFromMs) return <StateMark tone="warn" label={t('timers.late', { late })} />;
  return <StateMark tone="good" label={t('timers.inTime')} />;
}
