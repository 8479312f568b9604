import { useTranslation } from 'react-i18next';
import { formatAge, formatDateTime, formatMoment } from '@/lib/format';
import { staleAfterMs } from '@/lib/intervals';
import { serverNowMs } from '@/lib/server-clock';
import { useNow } from '@/lib/use-now';
import classes from './observed.module.css';

type ObservedProps = {
  atMs: number;
  /** The age from which it is called stale; reports, for example, never go stale. */
  staleMs?: number;
  bare?: boolean;
  /** Whether it is stale, where more than the age decides that. */
  stale?: boolean;
  /** Returns the time now by the clock that gave `atMs`: the control plane's or this browser's. */
  clock?: () => number;
};

/** When something was observed, in words that grow older by themselves. */
export function Observed(props: ObservedProps) {
  const { atMs, staleMs = staleAfterMs, bare = false, clock = serverNowMs } = props;
  const { t } = useTranslation();
  useNow();
  const ageMs = clock() - atMs;
  const stale = props.stale ?? ageMs > staleMs;
  const age = formatAge(ageMs);
  const fresh = bare ? t('observed.bare', { age }) : t('observed.ago', { age });
  return (
    <time
      dateTime={new Date(atMs).toISOString()}
      title={formatDateTime(atMs)}
      className={stale ? classes.stale : classes.fresh}
      data-stale={stale}
    >
      {stale ? t('observed.staleSince', { time: formatMoment(atMs, ageMs) }) : fresh}
    </time>
  );
}
