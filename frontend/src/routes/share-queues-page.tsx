import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { SearchField } from '@/components/search-field';
import classes from '@/features/share-queues/share-queues.module.css';
import { ShareIncidentsPanel } from './share-incidents-panel';
import { ShareQueuePanel } from './share-queue-panel';
import { ShareQueuesPanel } from './share-queues-panel';
import type { ShareQueuesSearch } from './share-queues-route';
import { WithCluster } from './with-cluster';

/** The share queues of POP consumers, and the messages that consumers have of one. */
export function ShareQueuesPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/share-queues' });
  const { group, topic } = useSearch({ from: '/console/share-queues' });
  // A changed filter begins at the first page again.
  const narrow = (part: ShareQueuesSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part, after: undefined }), replace: true });
  return (
    <Page
      title={t('nav.shareQueues')}
      summary={t('shareQueues.summary')}
      actions={
        <search className={classes.filters}>
          <SearchField
            label={t('shareQueues.group')}
            search={group}
            onSearch={(name) => narrow({ group: name })}
          />
          <SearchField
            label={t('shareQueues.topic')}
            search={topic}
            onSearch={(name) => narrow({ topic: name })}
          />
        </search>
      }
    >
      <WithCluster>
        {(name) => (
          <>
            <ShareQueuesPanel clusterName={name} />
            <ShareQueuePanel clusterName={name} />
            <ShareIncidentsPanel clusterName={name} />
          </>
        )}
      </WithCluster>
    </Page>
  );
}
