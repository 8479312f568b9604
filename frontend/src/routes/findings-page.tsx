import { SegmentedControl } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { findingStates } from '@/features/findings/finding';
import { FindingsPanel } from './findings-panel';
import { WithCluster } from './with-cluster';

/** Which invariants of a cluster are broken, or were, and what to do about each. */
export function FindingsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/findings' });
  const { state = 'open' } = useSearch({ from: '/console/findings' });
  return (
    <Page
      title={t('findings.title')}
      summary={t('findings.summary')}
      actions={
        <SegmentedControl
          aria-label={t('findings.which')}
          value={state}
          onChange={(value) => {
            const chosen = findingStates.find((one) => one === value && one !== 'open');
            // A changed filter begins at the first page again.
            void navigate({
              search: (now) => ({ ...now, state: chosen, after: undefined }),
              replace: true,
            });
          }}
          data={findingStates.map((value) => ({ value, label: t(`findingState.${value}`) }))}
        />
      }
    >
      <WithCluster>{(name) => <FindingsPanel clusterName={name} />}</WithCluster>
    </Page>
  );
}
