import { staleAfterMs } from '@/lib/intervals';
import { Followed } from './followed';
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
export function Answered({ followed = false, staleMs = staleAfterMs, ...rest }: AnsweredProps) {
  if (rest.atMs === 0) return null;
  return followed ? (
    <Followed staleMs={staleMs} {...rest} />
  ) : (
    <Observed clock={Date.now} staleMs={staleMs} {...rest} />
  );
}
