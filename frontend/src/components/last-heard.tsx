import { useTranslation } from 'react-i18next';
import { Observed } from '@/components/observed';
import { formatAge, formatDateTime, formatMoment } from '@/lib/format';
import { serverNowMs } from '@/lib/server-clock';
import { useNow } from '@/lib/use-now';
import classes from './observed.module.css';

type LastHeardProps = {
  /** Null where it was not kept. */
  at: string | null;
  /** Whether the broker is still heard; the time then goes stale by itself. */
  isAlive?: boolean;
  /** Shows only how long ago, where there is no room; the title is the instant. */
  brief?: boolean;
};

/** The time of a broker's last heartbeat, in the colour of a warning once the broker is gone. */
export function LastHeard({ at, isAlive = false, brief = false }: LastHeardProps) {
  const { t } = useTranslation();
  useNow();
  if (at === null) return <span className={classes.fresh}>{t('lastHeard.unknown')}</span>;
  const atMs = Date.parse(at);
  if (isAlive) return <Observed bare atMs={atMs} />;
  const ageMs = serverNowMs() - atMs;
  return (
    <time dateTime={at} title={formatDateTime(atMs)} className={classes.stale}>
      {brief
        ? t('lastHeard.brief', { age: formatAge(ageMs) })
        : t('lastHeard.at', { time: formatMoment(atMs, ageMs), age: formatAge(ageMs) })}
    </time>
  );
}
