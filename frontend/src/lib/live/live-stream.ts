import type { QueryClient } from '@tanstack/react-query';
import { type Client, createClient } from 'graphql-ws';
import {
  type SampleFieldsFragment,
  SamplesDocument,
  type SamplesSubscription,
  TopologyChangedDocument,
  type TopologyChangedSubscription,
} from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { operationName } from '@/lib/graphql';
import { serverNowMs } from '@/lib/server-clock';
import { recordSamples } from './sample-cache';
import { setStreamState } from './stream-state';

/** Samples that arrive together are shown together: one render a flush, however many brokers. */
const flushIntervalMs = 250;
const retryDelayMaxMs = 5_000;
const renewalDelayMs = 2_000;

function streamUrl(): string {
  const scheme = window.location.protocol === 'https:' ? 'wss' : 'ws';
  return `${scheme}://${window.location.host}/graphql`;
}

function openClient(onResumed: () => void): Client {
  return createClient({
    url: streamUrl,
    lazy: true,
    keepAlive: 10_000,
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
      closed: () => setStreamState({ kind: 'reconnecting', sinceMs: serverNowMs() }),
    },
  });
}

/** A subscription that the server ended is asked for again until the console lets go of it. */
function keepSubscribed<T>(client: Client, query: string, onData: (data: T) => void): () => void {
  let unsubscribe: () => void = () => undefined;
  let renewal: ReturnType<typeof setTimeout> | undefined;
  let released = false;
  const renew = () => {
    if (!released) renewal = setTimeout(subscribe, renewalDelayMs);
  };
  const subscribe = () => {
    unsubscribe = client.subscribe<T>(
      { query, operationName: operationName(query) },
      {
        next: ({ data }) => {
          if (data) onData(data);
        },
        error: () => {
          setStreamState({ kind: 'reconnecting', sinceMs: serverNowMs() });
          renew();
        },
        complete: renew,
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

/** Keeps the query cache in step with the cluster until the returned function is called. */
export function startLiveStream(queryClient: QueryClient): () => void {
  setStreamState({ kind: 'connecting' });
  // What happened while nobody listened is unknown, so everything shown is asked for again.
  const client = openClient(() => void queryClient.invalidateQueries({ queryKey: [clusterScope] }));
  let pending: SampleFieldsFragment[] = [];
  const timer = setInterval(() => {
    if (pending.length === 0) return;
    recordSamples(queryClient, pending);
    pending = [];
  }, flushIntervalMs);
  const stopSamples = keepSubscribed<SamplesSubscription>(
    client,
    SamplesDocument.toString(),
    (data) => {
      pending.push(data.samples);
    },
  );
  const stopTopology = keepSubscribed<TopologyChangedSubscription>(
    client,
    TopologyChangedDocument.toString(),
    () => void queryClient.invalidateQueries({ queryKey: [clusterScope] }),
  );
  return () => {
    clearInterval(timer);
    stopSamples();
    stopTopology();
    void client.dispose();
  };
}
