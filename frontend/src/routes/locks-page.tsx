import { SegmentedControl } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { LockFilters } from '@/features/locks/lock-filters';
import { LeasesPanel } from './leases-panel';
import { LocksPanel } from './locks-panel';
import type { LocksSearch } from './locks-route';
import { OperationLeasesPanel } from './operation-leases-panel';
import { WhyPanel } from './why-panel';
import { WithCluster } from './with-cluster';

/** Who holds what alone: queues that are consumed in order, and the lead of broker groups. */
export function LocksPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/locks' });
  const view = useSearch({ from: '/console/locks' });
  // A changed filter begins at the first page again.
  const narrow = (part: LocksSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part, after: undefined }), replace: true });
  const isLeases = view.tab === 'leases';
  return (
    <Page
      title={t('nav.locks')}
      summary={t(isLeases ? 'leases.summary' : 'locks.summary')}
      actions={
        <>
          {isLeases ? null : <LockFilters chosen={view} onChoose={narrow} />}
          <SegmentedControl
            aria-label={t('locks.view')}
            value={isLeases ? 'leases' : 'locks'}
            onChange={(tab) => narrow({ tab: tab === 'leases' ? 'leases' : undefined })}
            data={[
              { value: 'locks', label: t('locks.title') },
              { value: 'leases', label: t('leases.title') },
            ]}
          />
        </>
      }
    >
      <WithCluster>
        {(name) =>
          isLeases ? (
            <>
              <LeasesPanel clusterName={name} />
              <OperationLeasesPanel clusterName={name} />
            </>
          ) : (
            <>
              <LocksPanel clusterName={name} />
              <WhyPanel clusterName={name} />
            </>
          )
        }
      </WithCluster>
    </Page>
  );
}
