/** How often samples are taken, and how long one may be missing before it is called stale. */
export const sampleIntervalMs = 5_000;
export const staleAfterMs = 3 * sampleIntervalMs;
