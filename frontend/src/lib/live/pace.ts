import { isStreamLive } from './stream-state';

/** While the stream reports changes, an answer is asked for again only in case a report fails. */
const restIntervalMs = 60_000;

/** How long an answer that the stream keeps up to date rests: less long once the stream is cut. */
export function paced(cutIntervalMs: number, liveIntervalMs = restIntervalMs): () => number {
  return () => (isStreamLive() ? liveIntervalMs : cutIntervalMs);
}
