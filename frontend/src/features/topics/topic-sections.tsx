import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Notice } from '@/components/notice';
import { Panel } from '@/components/panel';
import type { SegmentsView } from '@/components/segments-as';
import { LogicalQueuesPanel } from './logical-queues-panel';
import { PlacementTable } from './placement-table';
import { QueueTable } from './queue-table';
import { RouteTable } from './route-table';
import type { TopicDetail } from './topic-detail';
import { TopicFacts } from './topic-facts';
import { logicalQueuesOf } from './topic-queries';
import classes from './topic-sections.module.css';

type TopicSectionsProps = {
  topic: TopicDetail;
  observedAtMs: number;
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
  segments: SegmentsView;
  onSegments: (view: SegmentsView) => void;
};

/** What there is to know about one topic, region by region. */
export function TopicSections(props: TopicSectionsProps) {
  const { topic, observedAtMs, sort, onSort, segments, onSegments } = props;
  const { t } = useTranslation();
  const observed = <Answered atMs={observedAtMs} />;
  const query = useQuery(logicalQueuesOf(topic.clusterName, topic.name));
  // The queues of a static topic are the logical ones, at the broker groups that lead them.
  const alone = topic.placements.filter(({ isReplicated }) => !isReplicated);
  const isStatic = Boolean(query.data?.data.logicalQueues);
  return (
    <>
      <TopicFacts topic={topic} />
      {alone.length > 0 ? (
        <Notice
          tone="warn"
          title={t('placements.unreplicated', {
            groups: alone.map(({ brokerGroupName }) => brokerGroupName).join(', '),
          })}
        >
          {t('placements.unreplicatedNext')}
        </Notice>
      ) : null}
      <div className={classes.pair}>
        <Panel
          title={t(isStatic ? 'placements.physical' : 'placements.title')}
          aside={observed}
          flush
        >
          {topic.placements.length > 0 ? (
            <PlacementTable placements={topic.placements} />
          ) : (
            <EmptyState title={t('placements.none')} />
          )}
        </Panel>
        <Panel title={t(isStatic ? 'route.physical' : 'route.title')} aside={observed} flush>
          {topic.route.length > 0 ? (
            <RouteTable route={topic.route} />
          ) : (
            <EmptyState title={t('route.none')}>{t('route.noneNext')}</EmptyState>
          )}
        </Panel>
      </div>
      <LogicalQueuesPanel
        clusterName={topic.clusterName}
        topicName={topic.name}
        view={segments}
        onView={onSegments}
      />
      <Panel title={t(isStatic ? 'queues.logical' : 'queues.title')} flush>
        {topic.queues.length > 0 ? (
          <QueueTable queues={topic.queues} isLogical={isStatic} sort={sort} onSort={onSort} />
        ) : (
          <EmptyState title={t('queues.none')} />
        )}
      </Panel>
    </>
  );
}
