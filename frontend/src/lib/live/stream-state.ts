import { useSyncExternalStore } from 'react';

/** Whether the console hears the control plane right now, and since when it does not. */
export type StreamState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'reconnecting'; sinceMs: number };

let state: StreamState = { kind: 'connecting' };
let lastHeardMs = 0;
const listeners = new Set<() => void>();

export function setStreamState(next: StreamState): void {
  if (state.kind === 'reconnecting' && next.kind === 'reconnecting') return;
  state = next;
  for (const listener of listeners) listener();
}

export function isStreamLive(): boolean {
  return state.kind === 'live';
}

/** Notes that the control plane was there just now, and had nothing more to tell. */
export function noteHeard(): void {
  if (state.kind === 'live') lastHeardMs = Date.now();
}

/** When the stream was heard last, by this browser's clock: what heeds it was so until then. */
export function heardAtMs(): number {
  return lastHeardMs;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useStreamState(): StreamState {
  return useSyncExternalStore(subscribe, () => state);
}
