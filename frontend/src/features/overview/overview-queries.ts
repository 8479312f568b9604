import { queryOptions } from '@tanstack/react-query';
import { HealthDocument, OverviewDocument, RatesDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';
import { type RateSpan, rateSpans } from './rate-points';

const restIntervalMs = 60_000;

export const overviewKeys = {
  counts: [clusterScope, 'overview'] as const,
  health: (clusterName: string) => [clusterScope, 'health', clusterName] as const,
  rates: (span: RateSpan) => [clusterScope, 'rates', span] as const,
};

/** What was kept of the rates; a mean of the day comes every five minutes, a round fills a gap of now. */
export const keptRates = (span: RateSpan) =>
  queryOptions({
    queryKey: overviewKeys.rates(span),
    queryFn: ({ signal }) => ask(RatesDocument, { minutes: rateSpans[span].minutes }, signal),
    refetchInterval: restIntervalMs,
  });

/** A replica that is lost or found, cordoned or elected is an event; asking also now and then is cheap. */
export const healthOf = (clusterName: string) =>
  queryOptions({
    queryKey: overviewKeys.health(clusterName),
    queryFn: ({ signal }) => ask(HealthDocument, { clusterName }, signal),
    refetchInterval: paced(sampleIntervalMs, 2 * sampleIntervalMs),
    meta: heeding(['broker', 'group', 'route', 'finding'], { clusterName }),
  });

export const overviewCounts = queryOptions({
  queryKey: overviewKeys.counts,
  queryFn: ({ signal }) => ask(OverviewDocument, {}, signal),
  refetchInterval: paced(sampleIntervalMs),
  meta: heeding(['broker', 'group', 'route']),
});
