import { SegmentedControl } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { SearchField } from '@/components/search-field';
import { WriteButton } from '@/components/write-button';
import { recallMessage } from '@/features/orders/timer-orders';
import type { DueBy } from '@/features/timers/timer-queries';
import classes from '@/features/timers/timers.module.css';
import { OrderModal } from './order-modal';
import { TimersPanel } from './timers-panel';
import type { TimersSearch } from './timers-route';
import { useClusterName } from './use-cluster-name';
import { WithCluster } from './with-cluster';
import { withinPage } from './within-page';

/** The messages that wait for a time: how many, of which topics, and when they are due. */
export function TimersPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/timers' });
  const { topic, by = 'hours', order } = useSearch({ from: '/console/timers' });
  const clusterName = useClusterName();
  const change = (part: TimersSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part }), ...withinPage });
  return (
    <Page
      title={t('nav.timers')}
      summary={t('timers.summary')}
      actions={
        <>
          <search className={classes.filters}>
            <SearchField
              label={t('timers.topic')}
              search={topic}
              // A changed filter begins at the first page again.
              onSearch={(name) => change({ topic: name, after: undefined })}
            />
            <SegmentedControl<DueBy>
              aria-label={t('timers.by')}
              value={by}
              onChange={(chosen) => change({ by: chosen === 'hours' ? undefined : chosen })}
              data={[
                { value: 'hours', label: t('timers.byHours') },
                { value: 'minutes', label: t('timers.byMinutes') },
              ]}
            />
          </search>
          {clusterName === undefined ? null : (
            <>
              <WriteButton data-act variant="default" onClick={() => change({ order: 'recall' })}>
                {t('timers.recall')}
              </WriteButton>
              <OrderModal
                kind={order && recallMessage(clusterName)}
                onClose={() => change({ order: undefined })}
              />
            </>
          )}
        </>
      }
    >
      <WithCluster>{(name) => <TimersPanel clusterName={name} />}</WithCluster>
    </Page>
  );
}
