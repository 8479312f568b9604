import type { QueryClient } from '@tanstack/react-query';
import {
  type SampleFieldsFragment,
  SamplesDocument,
  type SamplesSubscription,
  TopologyChangedDocument,
  type TopologyChangedSubscription,
} from '@/gql/operations';
import { followEvents } from './event-stream';
import { routesChanged } from './heeds';
import { keepSubscribed } from './keep-subscribed';
import { createRefresher } from './refresher';
import { recordSamples } from './sample-cache';
import { openStreamClient } from './stream-client';
import { setStreamState } from './stream-state';

/** What arrives together is shown together: one render and one question a flush, however much. */
const flushIntervalMs = 250;

/** Keeps the query cache in step with the cluster until the returned function is called. */
export function startLiveStream(queryClient: QueryClient): () => void {
  setStreamState({ kind: 'connecting' });
  const refresher = createRefresher(queryClient);
  const client = openStreamClient({
    // From now on no event arrives, so everything is asked for now and at intervals (`paced`).
    onCut: refresher.hearAll,
    // Events are resumed; a change of routes during the cut is not reported again.
    onResumed: () => refresher.hear(routesChanged(null)),
  });
  let pending: SampleFieldsFragment[] = [];
  const timer = setInterval(() => {
    refresher.flush();
    if (pending.length === 0) return;
    recordSamples(queryClient, pending);
    pending = [];
  }, flushIntervalMs);
  const stops = [
    keepSubscribed<SamplesSubscription>(client, SamplesDocument, {
      onData: (data) => pending.push(data.samples),
    }),
    keepSubscribed<TopologyChangedSubscription>(client, TopologyChangedDocument, {
      onData: ({ topologyChanged }) => refresher.hear(routesChanged(topologyChanged.clusterName)),
    }),
    followEvents(client, refresher),
  ];
  return () => {
    clearInterval(timer);
    for (const stop of stops) stop();
    void client.dispose();
  };
}
