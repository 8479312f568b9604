import { staleAfterMs } from '@/lib/intervals';
import { useStaleness } from '@/lib/staleness';
import { Observed } from './observed';

type AnsweredProps = {
  /** When the answer came; 0 where none has come yet and that to another question stands in. */
  atMs: number;
  staleMs?: number;
  bare?: boolean;
  /** Of an answer that heeds the stream: it is so until the stream tells otherwise. */
  followed?: boolean;
};

/** How old an answer is; when it came is told by this browser's clock, and so is its age. */
export function Answered({ followed = false, ...rest }: AnsweredProps) {
  if (rest.atMs === 0) return null;
  return followed ? <Followed {...rest} /> : <Observed clock={Date.now} {...rest} />;
}

/** Its age is asked for each second: nothing else draws a quiet page again. */
function Followed({ atMs, staleMs = staleAfterMs, ...rest }: Omit<AnsweredProps, 'followed'>) {
  const { isStale, ageMs } = useStaleness({ dataUpdatedAt: atMs, error: null }, staleMs);
  return <Observed clock={Date.now} atMs={Date.now() - ageMs} stale={isStale} {...rest} />;
}
