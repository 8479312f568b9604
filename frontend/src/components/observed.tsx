import { useTranslation } from 'react-i18next';
import { formatAge, formatClock, formatDateTime } from '@/lib/format';
import { staleAfterMs } from '@/lib/intervals';
import { heardAtMs } from '@/lib/live/stream-state';
import { useNow } from '@/lib/use-now';
import classes from './observed.module.css';

type ObservedProps = {
  atMs: number;
  /** The age from which it is no longer called observed; reports, for one, do not go stale. */
  staleMs?: number;
  bare?: boolean;
  /** Of an answer that heeds the stream: it is so until the stream tells otherwise. */
  followed?: boolean;
};

/** When something was observed, in words that grow older by themselves. */
export function Observed(props: ObservedProps) {
  const { staleMs = staleAfterMs, bare = false, followed = false } = props;
  const { t } = useTranslation();
  const nowMs = useNow();
  const atMs = followed ? Math.max(props.atMs, heardAtMs()) : props.atMs;
  const ageMs = nowMs - atMs;
  const stale = ageMs > staleMs;
  const age = formatAge(ageMs);
  const fresh = bare ? t('observed.bare', { age }) : t('observed.ago', { age });
  return (
    <time
      dateTime={new Date(atMs).toISOString()}
      title={formatDateTime(atMs)}
      className={stale ? classes.stale : classes.fresh}
      data-stale={stale}
    >
      {stale ? t('observed.staleSince', { time: staleTime(atMs, ageMs) }) : fresh}
    </time>
  );
}

const dayMs = 86_400_000;

function staleTime(atMs: number, ageMs: number): string {
  return ageMs < dayMs / 2 ? formatClock(atMs) : formatDateTime(atMs);
}
