import { staleAfterMs } from '@/lib/intervals';
import { Followed } from './followed';
import { Observed } from './observed';

type AnsweredProps = {
  /** When the answer came; 0 while the answer to another question is shown in its place. */
  atMs: number;
  staleMs?: number;
  bare?: boolean;
  /** Whether the answer heeds the stream, so that it holds until the stream reports a change. */
  followed?: boolean;
};

/** How old an answer is, by this browser's clock, which also gave the time of the answer. */
export function Answered({ followed = false, staleMs = staleAfterMs, ...rest }: AnsweredProps) {
  if (rest.atMs === 0) return null;
  return followed ? (
    <Followed staleMs={staleMs} {...rest} />
  ) : (
    <Observed clock={Date.now} staleMs={staleMs} {...rest} />
  );
}
