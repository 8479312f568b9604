import { useSyncExternalStore } from 'react';

/** Whether the console hears the control plane right now, and since when it does not. */
export type StreamState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'reconnecting'; sinceMs: number };

/** What the stream says of answers that heed it; all times are this browser's, 0 is never. */
export type StreamNews = { isLive: boolean; heardMs: number; cutMs: number };

let state: StreamState = { kind: 'connecting' };
let heardMs = 0;
let cutMs = 0;
const listeners = new Set<() => void>();

export function setStreamState(next: StreamState): void {
  if (state.kind === 'reconnecting' && next.kind === 'reconnecting') return;
  state = next;
  if (next.kind === 'live') heardMs = Date.now();
  if (next.kind === 'reconnecting') cutMs = Date.now();
  for (const listener of listeners) listener();
}

export function isStreamLive(): boolean {
  return state.kind === 'live';
}

/** Notes that the control plane was there just now, and had nothing more to report. */
export function noteHeard(): void {
  if (state.kind === 'live') heardMs = Date.now();
}

/** When the stream was heard last, and when it was cut: until then an answer that heeds it held. */
export function streamNews(): StreamNews {
  return { isLive: state.kind === 'live', heardMs, cutMs };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useStreamState(): StreamState {
  return useSyncExternalStore(subscribe, () => state);
}
