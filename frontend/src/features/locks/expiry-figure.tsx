import { useTranslation } from 'react-i18next';
import { Meter } from '@/components/meter';
import { formatSpan } from '@/lib/format';
import { useNow } from '@/lib/use-now';
import classes from './expiry-figure.module.css';
import { leftMs, lockLifeMs } from './lock';

type ExpiryFigureProps = { reportedMs: string; observedAt: string; label: string };

/** In how long a lock ends unless it is renewed, as a bar that runs out too. */
export function ExpiryFigure({ reportedMs, observedAt, label }: ExpiryFigureProps) {
  const { t } = useTranslation();
  const left = leftMs(reportedMs, observedAt, useNow());
  return (
    <span className={classes.expiry}>
      <span className={classes.words}>{left > 0 ? formatSpan(left) : t('locks.over')}</span>
      <Meter
        end={left / lockLifeMs}
        label={label}
        tone={left < lockLifeMs / 3 ? 'warn' : 'plain'}
      />
    </span>
  );
}
