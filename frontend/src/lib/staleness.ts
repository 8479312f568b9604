import { useNow } from './use-now';

/** How old an answer is, and whether what it says may have changed since without our knowing. */
export type Staleness = { isStale: boolean; ageMs: number };

type Asked = { dataUpdatedAt: number; error: Error | null };

export function stalenessOf(asked: Asked, limitMs: number, nowMs: number): Staleness {
  const ageMs = Math.max(0, nowMs - asked.dataUpdatedAt);
  return { isStale: asked.error !== null || ageMs > limitMs, ageMs };
}

/** Watches an answer grow old; both times are this browser's, so its clock may be wrong. */
export function useStaleness(asked: Asked, limitMs: number): Staleness {
  useNow();
  return stalenessOf(asked, limitMs, Date.now());
}
