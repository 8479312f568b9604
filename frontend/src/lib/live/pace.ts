import { isStreamLive } from './stream-state';

/** Told by the stream, an answer is asked for again unasked only in case that ever fails. */
const restIntervalMs = 60_000;

/** How long an answer that the stream keeps up to date rests: not at all for long once it is cut. */
export function paced(cutIntervalMs: number, liveIntervalMs = restIntervalMs): () => number {
  return () => (isStreamLive() ? liveIntervalMs : cutIntervalMs);
}
