import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { StaticTopicTable } from './static-topic-table';
import { staticTopicsOf } from './topic-queries';

type StaticTopicsPanelProps = { clusterName: string; brokerGroupName: string };

/** The static topics with queues on a broker group; nothing as long as none is known. */
export function StaticTopicsPanel({ clusterName, brokerGroupName }: StaticTopicsPanelProps) {
  const { t } = useTranslation();
  const query = useQuery(staticTopicsOf(clusterName, brokerGroupName));
  const isAbsent = query.data
    ? query.data.data.staticTopics?.totalCount === 0
    : query.error === null;
  if (isAbsent) return null;
  return (
    <Panel
      title={t('staticTopics.title')}
      aside={<Answered atMs={query.dataUpdatedAt} followed />}
      flush
    >
      <QueryView query={query} needs="staticTopics">
        {({ staticTopics: { nodes, totalCount } }) => (
          <>
            <StaticTopicTable topics={nodes} brokerGroupName={brokerGroupName} />
            {nodes.length < totalCount
              ? t('staticTopics.more', { shown: nodes.length, total: totalCount })
              : null}
          </>
        )}
      </QueryView>
    </Panel>
  );
}
