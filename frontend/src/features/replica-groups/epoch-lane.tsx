import { useTranslation } from 'react-i18next';
import { EpochBar } from './epoch-bar';
import type { Lane } from './epoch-lanes';
import classes from './epoch-lanes.module.css';

/** One replica's log, epoch by epoch, or why it is not known. */
export function EpochLane({ lane }: { lane: Lane }) {
  const { t } = useTranslation();
  const { brokerId, bars, error } = lane;
  if (bars === null) {
    const label = t('epochs.silentLane', { reason: error ?? t('figure.unknown') });
    return (
      <div className={classes.silent} title={label}>
        {label}
      </div>
    );
  }
  const epochs = bars.map((bar) => bar.epoch).join(', ');
  return (
    <div
      className={classes.lane}
      role="img"
      aria-label={t(bars.length > 0 ? 'epochs.lane' : 'epochs.emptyLane', { id: brokerId, epochs })}
    >
      {bars.map((bar) => (
        <EpochBar key={bar.epoch} bar={bar} />
      ))}
    </div>
  );
}
