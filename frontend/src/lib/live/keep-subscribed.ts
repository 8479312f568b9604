import type { Client } from 'graphql-ws';
import { operationName } from '@/lib/graphql';
import { serverNowMs } from '@/lib/server-clock';
import { setStreamState } from './stream-state';

const renewalDelayMs = 2_000;

type Subscriber<T> = {
  variables?: Record<string, unknown>;
  onData: (data: T) => void;
  /** Called before the subscription is renewed; releasing it there keeps it from that. */
  onError?: (error: unknown) => void;
};

/** A subscription that the server ended is asked for again until the console lets go of it. */
export function keepSubscribed<T>(
  client: Client,
  document: { toString(): string },
  { variables = {}, onData, onError }: Subscriber<T>,
): () => void {
  const query = document.toString();
  let unsubscribe: () => void = () => undefined;
  let renewal: ReturnType<typeof setTimeout> | undefined;
  let released = false;
  const renew = (before: () => void = () => undefined) => {
    if (released) return;
    renewal = setTimeout(() => {
      before();
      subscribe();
    }, renewalDelayMs);
  };
  const subscribe = () => {
    unsubscribe = client.subscribe<T>(
      { query, operationName: operationName(query), variables },
      {
        next: ({ data }) => {
          if (data) onData(data);
        },
        error: (error) => {
          onError?.(error);
          if (released) return;
          setStreamState({ kind: 'reconnecting', sinceMs: serverNowMs() });
          // A new connection is what says that all is well again.
          renew(() => client.terminate());
        },
        complete: () => renew(),
      },
    );
  };
  subscribe();
  return () => {
    released = true;
    clearTimeout(renewal);
    unsubscribe();
  };
}
