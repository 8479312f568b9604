import { useTranslation } from 'react-i18next';
import { formatAge, formatDateTime, formatMoment } from '@/lib/format';
import { serverNowMs } from '@/lib/server-clock';
import { useNow } from '@/lib/use-now';
import classes from './observed.module.css';

/** Since when nobody hears a broker that is gone; null where that was not kept. */
export function LastHeard({ at }: { at: string | null }) {
  const { t } = useTranslation();
  useNow();
  if (at === null) return <span className={classes.fresh}>{t('lastHeard.unknown')}</span>;
  const atMs = Date.parse(at);
  const ageMs = serverNowMs() - atMs;
  return (
    <time dateTime={at} title={formatDateTime(atMs)} className={classes.stale}>
      {t('lastHeard.at', { time: formatMoment(atMs, ageMs), age: formatAge(ageMs) })}
    </time>
  );
}
