import { SegmentedControl } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Observed } from '@/components/observed';
import { Panel } from '@/components/panel';
import { RateChart } from '@/components/rate-chart';
import { rateSeries } from '@/lib/live/sample-history';
import { useLatestSamples, useSampleHistory } from '@/lib/live/use-samples';
import { RateTable } from './rate-table';

export type RateView = 'chart' | 'table';
type RatePanelProps = { view: RateView; onView: (view: RateView) => void };

/** Messages in and out of all brokers together, for as long as this console has been listening. */
export function RatePanel({ view, onView }: RatePanelProps) {
  const { t } = useTranslation();
  const history = useSampleHistory();
  const points = useMemo(() => rateSeries(history), [history]);
  const times = Object.values(useLatestSamples()).map((sample) => Date.parse(sample.observedAt));
  const lastAtMs = times.length > 0 ? Math.max(...times) : null;
  return (
    <Panel
      title={t('rates.title')}
      flush={view === 'table'}
      aside={
        <>
          {lastAtMs ? <Observed atMs={lastAtMs} /> : null}
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
      {points.length === 0 ? (
        <EmptyState title={t('rates.none')}>{t('rates.noneNext')}</EmptyState>
      ) : null}
      {points.length > 0 && view === 'chart' ? (
        <RateChart
          points={points}
          label={t('rates.label')}
          timeLabel={t('rates.time')}
          inLabel={t('rates.in')}
          outLabel={t('rates.out')}
        />
      ) : null}
      {points.length > 0 && view === 'table' ? <RateTable points={points} /> : null}
    </Panel>
  );
}
