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
  const isEmpty = bars.every((bar) => bar.startOffset === bar.endOffset);
  const epochs = bars.map((bar) => bar.epoch).join(', ');
  const nothing =
    epochs === '' ? t('epochs.emptyHere') : t('epochs.emptySince', { epochs, count: bars.length });
  return (
    <div
      className={classes.lane}
      role="img"
      aria-label={
        isEmpty
          ? t('epochs.emptyLane', { id: brokerId, nothing })
          : t('epochs.lane', { id: brokerId, epochs })
      }
    >
      {isEmpty ? (
        <span className={classes.nothing}>{nothing}</span>
      ) : (
        bars.map((bar) => <EpochBar key={bar.epoch} bar={bar} />)
      )}
    </div>
  );
}
