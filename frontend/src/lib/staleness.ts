import { heardAtMs } from './live/stream-state';
import { useNow } from './use-now';

/** How old an answer is, and whether what it says may have changed since without our knowing. */
export type Staleness = { isStale: boolean; ageMs: number };

type Asked = { dataUpdatedAt: number; error: Error | null };

/** An answer that heeds the stream is so for as long as that was heard and told nothing else. */
function knownAtMs({ dataUpdatedAt, error }: Asked, heardMs: number): number {
  return error === null ? Math.max(dataUpdatedAt, heardMs) : dataUpdatedAt;
}

export function stalenessOf(asked: Asked, limitMs: number, nowMs: number, heardMs = 0): Staleness {
  const ageMs = Math.max(0, nowMs - knownAtMs(asked, heardMs));
  return { isStale: asked.error !== null || ageMs > limitMs, ageMs };
}

/** Watches an answer that heeds the stream grow old; all times are this browser's. */
export function useStaleness(asked: Asked, limitMs: number): Staleness {
  useNow();
  return stalenessOf(asked, limitMs, Date.now(), heardAtMs());
}
