import { heardAtMs } from '@/lib/live/stream-state';
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
export function Answered({ atMs, followed = false, ...rest }: AnsweredProps) {
  if (atMs === 0) return null;
  const knownAtMs = followed ? Math.max(atMs, heardAtMs()) : atMs;
  return <Observed atMs={knownAtMs} clock={Date.now} {...rest} />;
}
