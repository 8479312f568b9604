import { useTranslation } from 'react-i18next';
import type { Reading } from '@/lib/reading';
import classes from './figure.module.css';

type FigureProps = {
  reading: Reading;
  format: (value: number) => string;
  unit?: string;
  stale?: boolean;
};

/** A number, or the word for why there is none: unknown and not collected never look like 0. */
export function Figure({ reading, format, unit, stale = false }: FigureProps) {
  const { t } = useTranslation();
  if (reading.kind === 'unknown') {
    return (
      <span className={classes.unknown} title={t('figure.unknownHint')}>
        {t('figure.unknown')}
      </span>
    );
  }
  if (reading.kind === 'not-collected') {
    return (
      <span className={classes.absent} title={t('figure.notCollectedHint')}>
        {t('figure.notCollected')}
      </span>
    );
  }
  return (
    <span className={stale ? classes.stale : classes.value}>
      {format(reading.value)}
      {unit ? <span className={classes.unit}> {unit}</span> : null}
    </span>
  );
}
