import { useStaleness } from '@/lib/staleness';
import { Observed } from './observed';

type FollowedProps = { atMs: number; staleMs: number; bare?: boolean };

/**
 * The age of an answer that heeds the stream. It is drawn each second, because nothing else draws a
 * quiet page again.
 */
export function Followed({ atMs, staleMs, ...rest }: FollowedProps) {
  const { isStale, ageMs } = useStaleness({ dataUpdatedAt: atMs, error: null }, staleMs);
  return <Observed clock={Date.now} atMs={Date.now() - ageMs} stale={isStale} {...rest} />;
}
