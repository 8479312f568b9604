import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { SegmentStrip } from '@/components/segment-strip';
import { logicalQueuesOf } from './topic-queries';

type LogicalQueuesPanelProps = { clusterName: string; topicName: string };

/** The segments of a static topic; nothing for a topic that is not known to be one. */
export function LogicalQueuesPanel({ clusterName, topicName }: LogicalQueuesPanelProps) {
  const { t } = useTranslation();
  const query = useQuery(logicalQueuesOf(clusterName, topicName));
  const isAbsent = query.data
    ? query.data.data.logicalQueues === null && query.data.problems.length === 0
    : query.error === null;
  if (isAbsent) return null;
  return (
    <Panel title={t('segments.title')} aside={<Answered atMs={query.dataUpdatedAt} />} flush>
      <QueryView query={query} needs="logicalQueues">
        {({ logicalQueues }) => (
          <SegmentStrip label={t('segments.title')} queues={logicalQueues?.queues ?? []} />
        )}
      </QueryView>
    </Panel>
  );
}
