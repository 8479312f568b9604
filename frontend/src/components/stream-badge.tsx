import { useTranslation } from 'react-i18next';
import { formatClock } from '@/lib/format';
import { useStreamState } from '@/lib/live/stream-state';
import { StateMark } from './state-mark';

/** Says whether the figures move by themselves right now. */
export function StreamBadge() {
  const { t } = useTranslation();
  const state = useStreamState();
  return (
    <span role="status">
      {state.kind === 'live' ? <StateMark tone="good" label={t('stream.live')} /> : null}
      {state.kind === 'connecting' ? (
        <StateMark tone="busy" label={t('stream.connecting')} />
      ) : null}
      {state.kind === 'reconnecting' ? (
        <StateMark
          tone="warn"
          label={t('stream.reconnecting', { time: formatClock(state.sinceMs) })}
        />
      ) : null}
    </span>
  );
}
