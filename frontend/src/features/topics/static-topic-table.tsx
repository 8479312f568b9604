import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { OperationLink } from '@/components/operation-link';
import { columnsFor } from '@/components/table-features';
import { TopicLink } from '@/components/topic-link';
import type { StaticTopicsQuery } from '@/gql/operations';
import { shareOf } from './topic-detail';

type StaticTopic = StaticTopicsQuery['staticTopics']['nodes'][number];
const column = columnsFor<StaticTopic>();

type StaticTopicTableProps = { topics: StaticTopic[]; brokerGroupName: string };

/** How many logical queues of each static topic a broker group leads, and what it stores of them. */
export function StaticTopicTable({ topics, brokerGroupName }: StaticTopicTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('name', {
          header: t('staticTopics.topic'),
          cell: ({ row }) => <TopicLink topicName={row.original.name} />,
        }),
        column.display({
          id: 'led',
          header: t('staticTopics.led'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) =>
            t('staticTopics.of', {
              led: shareOf(original, brokerGroupName)?.ledCount ?? 0,
              total: original.queueCount,
            }),
        }),
        column.display({
          id: 'segments',
          header: t('staticTopics.segments'),
          meta: { align: 'right' },
          cell: ({ row }) => shareOf(row.original, brokerGroupName)?.segmentCount ?? 0,
        }),
        column.display({
          id: 'change',
          header: t('staticTopics.change'),
          cell: ({ row: { original } }) =>
            original.changeId === null ? null : (
              <OperationLink operationId={original.changeId}>
                {t('staticTopics.changing')}
              </OperationLink>
            ),
        }),
      ]),
    [brokerGroupName, t],
  );
  return (
    <DataTable
      label={t('staticTopics.title')}
      rows={topics}
      columns={columns}
      rowId={(topic) => topic.name}
    />
  );
}
