import { type StreamNews, streamNews, useStreamState } from './live/stream-state';
import { useNow } from './use-now';

/** How old an answer is, and whether what it says may have changed since without our knowing. */
export type Staleness = { isStale: boolean; ageMs: number };

type Asked = { dataUpdatedAt: number; error: Error | null };

/** The control plane says every two seconds that it is there: after this long it may be frozen. */
const silenceMaxMs = 5_000;
const unheard: StreamNews = { isLive: false, heardMs: 0, cutMs: 0 };

/**
 * An answer that heeds the stream holds as long as the stream is heard and reports nothing else.
 * While the stream is cut, an answer from before the cut is stale at once. An answer from after the
 * cut ages from its arrival; the limit is for such answers.
 */
export function stalenessOf(
  { dataUpdatedAt, error }: Asked,
  limitMs: number,
  nowMs: number,
  { isLive, heardMs, cutMs }: StreamNews = unheard,
): Staleness {
  const knownMs = error === null ? Math.max(dataUpdatedAt, heardMs) : dataUpdatedAt;
  const ageMs = Math.max(0, nowMs - knownMs);
  if (error !== null) return { isStale: true, ageMs };
  if (isLive) return { isStale: ageMs > Math.min(limitMs, silenceMaxMs), ageMs };
  const isCutOff = cutMs > 0 && dataUpdatedAt < cutMs;
  return { isStale: isCutOff || ageMs > limitMs, ageMs };
}

/** Watches an answer that heeds the stream grow old; all times are this browser's. */
export function useStaleness(asked: Asked, limitMs: number): Staleness {
  useNow();
  useStreamState();
  return stalenessOf(asked, limitMs, Date.now(), streamNews());
}
