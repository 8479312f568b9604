import type { Client } from 'graphql-ws';
import { EventPositionDocument, EventsDocument, type EventsSubscription } from '@/gql/operations';
import { ask } from '@/lib/graphql';
import { keepSubscribed } from './keep-subscribed';
import type { Refresher } from './refresher';

const retryDelayMs = 2_000;

function isExpired(error: unknown): boolean {
  const errors = Array.isArray(error) ? error : [];
  return errors.some(({ extensions }) => extensions?.code === 'events_expired');
}

/**
 * Follows the stream of events, each once and in order, across every cut of the connection. At its
 * start, and where events are no longer kept, earlier events are unknown: all is asked for again.
 */
export function followEvents(client: Client, refresher: Refresher): () => void {
  // Sent again with each connection, so it says where to go on and not where the stream began.
  const position: { after: string } = { after: '0' };
  let release: () => void = () => undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let released = false;

  const begin = async (): Promise<void> => {
    try {
      const answer = await ask(EventPositionDocument, {});
      position.after = answer.data.events.newestNumber;
    } catch {
      if (!released) retry = setTimeout(() => void begin(), retryDelayMs);
      return;
    }
    if (released) return;
    refresher.hearAll();
    release = keepSubscribed<EventsSubscription>(client, EventsDocument, {
      variables: position,
      onData: ({ events: { number, ...heard } }) => {
        position.after = number;
        refresher.hear(heard);
      },
      onError: (error) => {
        if (!isExpired(error)) return;
        release();
        void begin();
      },
    });
  };
  void begin();
  return () => {
    released = true;
    clearTimeout(retry);
    release();
  };
}
