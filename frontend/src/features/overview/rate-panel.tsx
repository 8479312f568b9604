import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { ErrorNotice } from '@/components/error-notice';
import { Observed } from '@/components/observed';
import { Panel } from '@/components/panel';
import { RateChart } from '@/components/rate-chart';
import { SkeletonLines } from '@/components/skeleton-lines';
import { rateSeries } from '@/lib/live/sample-history';
import { useLatestSamples, useSampleHistory } from '@/lib/live/use-samples';
import { keptRates } from './overview-queries';
import { joinPoints, pastPoints, type RateSpan } from './rate-points';
import { RateTable } from './rate-table';

export type RateView = 'chart' | 'table';
type RatePanelProps = {
  view: RateView;
  span: RateSpan;
  onView: (view: RateView) => void;
  onSpan: (span: RateSpan) => void;
};

/** Messages in and out of all brokers together, lately or over a day. */
export function RatePanel({ view, span, onView, onSpan }: RatePanelProps) {
  const { t } = useTranslation();
  const kept = useQuery(keptRates(span));
  const history = useSampleHistory();
  const points = useMemo(() => {
    const heard = span === 'recent' ? rateSeries(history) : [];
    return joinPoints(pastPoints(kept.data?.data), heard, span);
  }, [kept.data, history, span]);
  const times = Object.values(useLatestSamples()).map((sample) => Date.parse(sample.observedAt));
  const lastAtMs = times.length > 0 ? Math.max(...times) : null;
  const label = t('rates.label', { span: t(`rates.${span}`) });
  return (
    <Panel
      title={t('rates.title')}
      flush={view === 'table'}
      aside={
        <>
          {lastAtMs ? <Observed atMs={lastAtMs} /> : null}
          <SegmentedControl
            aria-label={t('rates.span')}
            value={span}
            onChange={onSpan}
            data={[
              { value: 'recent', label: t('rates.recent') },
              { value: 'day', label: t('rates.day') },
            ]}
          />
          <SegmentedControl
            aria-label={t('rates.view')}
            value={view}
            onChange={onView}
            data={[
              { value: 'chart', label: t('rates.chart') },
              { value: 'table', label: t('rates.table') },
            ]}
          />
        </>
      }
    >
      {kept.error ? <ErrorNotice error={kept.error} onRetry={() => void kept.refetch()} /> : null}
      {points.length === 0 && kept.isPending ? <SkeletonLines count={3} /> : null}
      {points.length === 0 && kept.data ? (
        <EmptyState title={t(`rates.none.${span}.title`)}>
          {t(`rates.none.${span}.next`)}
        </EmptyState>
      ) : null}
      {points.length > 0 && view === 'chart' ? (
        <RateChart
          key={span}
          points={points}
          label={label}
          timeLabel={t('rates.time')}
          inLabel={t('rates.in')}
          outLabel={t('rates.out')}
        />
      ) : null}
      {points.length > 0 && view === 'table' ? <RateTable label={label} points={points} /> : null}
    </Panel>
  );
}
