import { useSyncExternalStore } from 'react';

/** Whether the console hears the control plane right now, and since when it does not. */
export type StreamState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'reconnecting'; sinceMs: number };

let state: StreamState = { kind: 'connecting' };
const listeners = new Set<() => void>();

export function setStreamState(next: StreamState): void {
  if (state.kind === 'reconnecting' && next.kind === 'reconnecting') return;
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useStreamState(): StreamState {
  return useSyncExternalStore(subscribe, () => state);
}
