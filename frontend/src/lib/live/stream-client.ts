import { type Client, createClient } from 'graphql-ws';
import { serverNowMs } from '@/lib/server-clock';
import { noteHeard, setStreamState } from './stream-state';

const retryDelayMaxMs = 5_000;
/** How often the control plane is asked whether it is there, and how long it may take to say so. */
const pingIntervalMs = 2_000;
const pongDeadlineMs = 5_000;

function streamUrl(): string {
  const scheme = window.location.protocol === 'https:' ? 'wss' : 'ws';
  return `${scheme}://${window.location.host}/graphql`;
}

type Changes = { onCut: () => void; onResumed: () => void };

/** Opens the console's one connection; a control plane that holds it and is silent counts as gone. */
export function openStreamClient({ onCut, onResumed }: Changes): Client {
  let deadline: ReturnType<typeof setTimeout> | undefined;
  const client = createClient({
    url: streamUrl,
    lazy: true,
    keepAlive: pingIntervalMs,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: (retries) =>
      new Promise((resolve) =>
        setTimeout(
          resolve,
          Math.min(retryDelayMaxMs, 250 * 2 ** retries) * (0.8 + Math.random() * 0.4),
        ),
      ),
    on: {
      connected: (_socket, _payload, wasRetry) => {
        setStreamState({ kind: 'live' });
        if (wasRetry) onResumed();
      },
      ping: (isReceived) => {
        if (isReceived) return;
        deadline = setTimeout(() => client.terminate(), pongDeadlineMs);
      },
      pong: (isReceived) => {
        if (!isReceived) return;
        clearTimeout(deadline);
        noteHeard();
      },
      closed: () => {
        clearTimeout(deadline);
        setStreamState({ kind: 'reconnecting', sinceMs: serverNowMs() });
        onCut();
      },
    },
  });
  return client;
}
