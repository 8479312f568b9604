import { useTranslation } from 'react-i18next';
import { formatAge, formatDateTime, formatMoment } from '@/lib/format';
import { serverNowMs } from '@/lib/server-clock';
import { useNow } from '@/lib/use-now';
import classes from './observed.module.css';

type LastHeardProps = {
  /** Null where it was not kept. */
  at: string | null;
  /** Shows only how long ago, where there is no room; the title is the instant. */
  brief?: boolean;
};

/** The time of a broker's last heartbeat, mostly for brokers that are gone. */
export function LastHeard({ at, brief = false }: LastHeardProps) {
  const { t } = useTranslation();
  useNow();
  if (at === null) return <span className={classes.fresh}>{t('lastHeard.unknown')}</span>;
  const atMs = Date.parse(at);
  const ageMs = serverNowMs() - atMs;
  return (
    <time dateTime={at} title={formatDateTime(atMs)} className={classes.stale}>
      {brief
        ? t('lastHeard.brief', { age: formatAge(ageMs) })
        : t('lastHeard.at', { time: formatMoment(atMs, ageMs), age: formatAge(ageMs) })}
    </time>
  );
}
