import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { SegmentStrip } from '@/components/segment-strip';
import { SegmentTable } from '@/components/segment-table';
import { SegmentsAs, type SegmentsView } from '@/components/segments-as';
import { formatInt64 } from '@/lib/format';
import { ChangeNotice } from './change-notice';
import { drawnQueues } from './topic-detail';
import { logicalQueuesOf } from './topic-queries';

type LogicalQueuesPanelProps = {
  clusterName: string;
  topicName: string;
  view: SegmentsView;
  onView: (view: SegmentsView) => void;
};

/** The segments of a static topic; nothing for a topic that is not known to be one. */
export function LogicalQueuesPanel(props: LogicalQueuesPanelProps) {
  const { clusterName, topicName, view, onView } = props;
  const { t } = useTranslation();
  const query = useQuery(logicalQueuesOf(clusterName, topicName));
  const known = query.data?.data.logicalQueues;
  const isAbsent = query.data
    ? known === null && query.data.problems.length === 0
    : query.error === null;
  if (isAbsent) return null;
  const Segments = view === 'table' ? SegmentTable : SegmentStrip;
  return (
    <Panel
      title={t('segments.title')}
      aside={
        <>
          {known ? t('segments.epoch', { epoch: formatInt64(known.epoch) }) : null}
          <Answered atMs={query.dataUpdatedAt} />
          <SegmentsAs view={view} onView={onView} />
        </>
      }
      flush
    >
      <QueryView query={query} needs="logicalQueues">
        {({ logicalQueues }) =>
          logicalQueues === null ? null : (
            <>
              {logicalQueues.change ? <ChangeNotice change={logicalQueues.change} /> : null}
              <Segments
                label={t('segments.of', { topicName })}
                queues={drawnQueues(logicalQueues)}
              />
            </>
          )
        }
      </QueryView>
    </Panel>
  );
}
