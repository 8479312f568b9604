import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { Figure } from '@/components/figure';
import { Observed } from '@/components/observed';
import type { OverviewQuery, SampleFieldsFragment } from '@/gql/operations';
import { formatCount, formatDays, formatRate } from '@/lib/format';
import { staleAfterMs } from '@/lib/intervals';
import { readingOf, unknown, value } from '@/lib/reading';
import { useNow } from '@/lib/use-now';
import { liveTotals } from './live-totals';
import classes from './overview-tiles.module.css';
import { Tile } from './tile';

type OverviewTilesProps = {
  overview: OverviewQuery['overview'];
  /** Whether any capacity report about disks is done. */
  reported: boolean;
  observedAtMs: number;
  samples: SampleFieldsFragment[];
};

/** The figures of the whole installation in one line. */
export function OverviewTiles({ overview, reported, observedAtMs, samples }: OverviewTilesProps) {
  const { t } = useTranslation();
  const now = useNow();
  const totals = liveTotals(samples, now);
  const counted = <Answered atMs={observedAtMs} followed />;
  const disk = overview.soonestFullDisk;
  const stale = totals.observedAtMs !== null && now - totals.observedAtMs > staleAfterMs;
  const rateFoot =
    totals.observedAtMs === null ? (
      t('overview.noSamples')
    ) : (
      <>
        <Observed atMs={totals.observedAtMs} />
        {totals.out.counted < overview.onlineBrokerCount
          ? ` · ${t('overview.counted', { counted: totals.out.counted, total: overview.onlineBrokerCount })}`
          : null}
      </>
    );
  return (
    <dl className={classes.tiles}>
      <Tile
        label={t('overview.messagesIn')}
        figure={
          <Figure
            reading={totals.in.reading}
            format={formatRate}
            unit={t('unit.perSecond')}
            stale={stale}
          />
        }
        foot={rateFoot}
      />
      <Tile
        label={t('overview.messagesOut')}
        figure={
          <Figure
            reading={totals.out.reading}
            format={formatRate}
            unit={t('unit.perSecond')}
            stale={stale}
          />
        }
        foot={rateFoot}
      />
      <Tile
        label={t('overview.brokersOnline')}
        figure={
          <Figure
            reading={value(overview.onlineBrokerCount)}
            format={formatCount}
            unit={t('overview.ofBrokers', { count: overview.brokerCount })}
          />
        }
        foot={counted}
      />
      <Tile
        label={t('overview.brokerGroups')}
        figure={<Figure reading={value(overview.brokerGroupCount)} format={formatCount} />}
        foot={counted}
      />
      <Tile
        label={t('overview.clusters')}
        figure={<Figure reading={value(overview.clusterCount)} format={formatCount} />}
        foot={counted}
      />
      <Tile
        label={t('overview.topics')}
        figure={<Figure reading={value(overview.topicCount)} format={formatCount} />}
        foot={counted}
      />
      <Tile
        label={t('overview.soonestFullDisk')}
        figure={
          <Figure
            reading={
              reported && disk === null ? unknown : readingOf(disk, (row) => row.daysUntilFull)
            }
            format={formatDays}
            unit={t('unit.days')}
          />
        }
        foot={
          disk ? (
            <Link to="/capacity" search={(now) => (now.cluster ? { cluster: now.cluster } : {})}>
              {t('overview.diskOf', { broker: disk.brokerName })}
            </Link>
          ) : (
            <Link to="/capacity" search={(now) => (now.cluster ? { cluster: now.cluster } : {})}>
              {t(reported ? 'overview.noForecast' : 'overview.noReport')}
            </Link>
          )
        }
      />
    </dl>
  );
}
