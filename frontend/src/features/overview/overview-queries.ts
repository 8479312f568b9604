import { queryOptions } from '@tanstack/react-query';
import { OverviewDocument, RatesDocument } from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { ask } from '@/lib/graphql';
import { sampleIntervalMs } from '@/lib/intervals';
import { heeding } from '@/lib/live/heeds';
import { paced } from '@/lib/live/pace';
import { type RateSpan, rateSpans } from './rate-points';

const restIntervalMs = 60_000;

export const overviewKeys = {
  counts: [clusterScope, 'overview'] as const,
  rates: (span: RateSpan) => [clusterScope, 'rates', span] as const,
};

/** What was kept of the rates; a mean of the day comes every five minutes, a round fills a gap of now. */
export const keptRates = (span: RateSpan) =>
  queryOptions({
    queryKey: overviewKeys.rates(span),
    queryFn: ({ signal }) => ask(RatesDocument, { minutes: rateSpans[span].minutes }, signal),
    refetchInterval: restIntervalMs,
  });

export const overviewCounts = queryOptions({
  queryKey: overviewKeys.counts,
  queryFn: ({ signal }) => ask(OverviewDocument, {}, signal),
  refetchInterval: paced(sampleIntervalMs),
  meta: heeding(['broker', 'group', 'route']),
});
