import { useTranslation } from 'react-i18next';
import { formatBytes, formatInt64 } from '@/lib/format';
import type { EpochBar as Bar } from './epoch-lanes';
import classes from './epoch-lanes.module.css';

/** A bar narrower than this holds no readable number; its title and the table do. */
const labelledFrom = 0.025;

/** The part of a log that one epoch wrote, as long as it has bytes. */
export function EpochBar({ bar }: { bar: Bar }) {
  const { t } = useTranslation();
  const bytes = Number(BigInt(bar.endOffset) - BigInt(bar.startOffset));
  return (
    <span
      className={classes.bar}
      data-even={bar.epoch % 2 === 0}
      data-differing={bar.isDiffering}
      style={{ left: `${bar.left * 100}%`, width: `max(2px, ${bar.width * 100}%)` }}
      title={t('epochs.barTitle', {
        epoch: bar.epoch,
        start: formatInt64(bar.startOffset),
        end: formatInt64(bar.endOffset),
        bytes: formatBytes(bytes),
      })}
    >
      {bar.width >= labelledFrom ? <span className={classes.epoch}>{bar.epoch}</span> : null}
    </span>
  );
}
