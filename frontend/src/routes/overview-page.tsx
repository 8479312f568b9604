import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { QueryView } from '@/components/query-view';
import { SkeletonLines } from '@/components/skeleton-lines';
import { OpenFindingsLine } from '@/features/findings/open-findings-line';
import { overviewCounts } from '@/features/overview/overview-queries';
import { OverviewTiles } from '@/features/overview/overview-tiles';
import { RatePanel } from '@/features/overview/rate-panel';
import { useLatestSamples } from '@/lib/live/use-samples';
import { BrokersPanel } from './brokers-panel';
import { ClusterHealth } from './cluster-health';
import { WithCluster } from './with-cluster';
import { withinPage } from './within-page';

/** The state of everything at a glance. */
export function OverviewPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/' });
  const { rates = 'chart', span = 'recent', sort } = useSearch({ from: '/console/' });
  const counts = useQuery(overviewCounts);
  const latest = useLatestSamples();
  const samples = useMemo(() => Object.values(latest), [latest]);
  return (
    <Page
      title={t('nav.overview')}
      summary={
        <WithCluster>
          {(name) => (
            <>
              <div>
                <ClusterHealth clusterName={name} />
              </div>
              <div>
                <OpenFindingsLine clusterName={name} />
              </div>
            </>
          )}
        </WithCluster>
      }
    >
      <QueryView query={counts} skeleton={<SkeletonLines count={3} />}>
        {(data, observedAtMs) => (
          <OverviewTiles
            overview={data.overview}
            reported={data.capacityReports.nodes.some((report) => report.status === 'done')}
            observedAtMs={observedAtMs}
            samples={samples}
          />
        )}
      </QueryView>
      <RatePanel
        view={rates}
        span={span}
        onSpan={(next) =>
          void navigate({ search: (now) => ({ ...now, span: next }), ...withinPage })
        }
        onView={(view) =>
          void navigate({ search: (now) => ({ ...now, rates: view }), ...withinPage })
        }
      />
      <WithCluster>
        {(name) => (
          <BrokersPanel
            clusterName={name}
            sort={sort}
            onSort={(next) =>
              void navigate({ search: (now) => ({ ...now, sort: next }), ...withinPage })
            }
          />
        )}
      </WithCluster>
    </Page>
  );
}
