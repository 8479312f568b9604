import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Figure } from '@/components/figure';
import { columnsFor } from '@/components/table-features';
import type { TopicsQuery } from '@/gql/operations';
import { formatBytes, formatCount, formatRate } from '@/lib/format';
import { readingOf, sortKeyOf } from '@/lib/reading';

export type TopicRow = NonNullable<TopicsQuery['cluster']>['topics']['nodes'][number];

const column = columnsFor<TopicRow>();

function queueCount(topic: TopicRow): number {
  return topic.placements.reduce((sum, placement) => sum + placement.writeQueueCount, 0);
}

type TopicTableProps = {
  topics: TopicRow[];
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
};

/** One page of topics; a click on a name opens it. */
export function TopicTable({ topics, sort, onSort }: TopicTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('name', {
          header: t('topics.name'),
          sortFn: 'alphanumeric',
          cell: ({ row }) => (
            <Link
              to="/topics/$topicName"
              params={{ topicName: row.original.name }}
              search={(previous) => (previous.cluster ? { cluster: previous.cluster } : {})}
            >
              {row.original.name}
            </Link>
          ),
        }),
        column.accessor('kind', {
          header: t('topics.kind'),
          sortFn: 'basic',
          cell: ({ row }) => t(`topicKind.${row.original.kind}`),
        }),
        column.accessor((topic) => topic.placements.map((p) => p.brokerGroupName).join(', '), {
          id: 'groups',
          header: t('topics.groups'),
          sortFn: 'alphanumeric',
        }),
        column.accessor(queueCount, {
          id: 'queues',
          header: t('topics.queues'),
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => formatCount(queueCount(row.original)),
        }),
        column.accessor((topic) => sortKeyOf(readingOf(topic, (row) => row.messagesInPerSecond)), {
          id: 'messagesIn',
          header: t('topics.messagesIn'),
          sortUndefined: 'last',
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => (
            <Figure
              reading={readingOf(row.original, (topic) => topic.messagesInPerSecond)}
              format={formatRate}
            />
          ),
        }),
        column.accessor((topic) => sortKeyOf(readingOf(topic, (row) => row.bytesInPerSecond)), {
          id: 'bytesIn',
          header: t('topics.bytesIn'),
          sortUndefined: 'last',
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => (
            <Figure
              reading={readingOf(row.original, (topic) => topic.bytesInPerSecond)}
              format={formatBytes}
            />
          ),
        }),
        column.accessor(({ protection }) => (protection === null ? 0 : 1), {
          id: 'protected',
          header: t('protection.column'),
          sortFn: 'basic',
          cell: ({ row }) =>
            t(row.original.protection === null ? 'protection.no' : 'protection.yes'),
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('topics.title')}
      rows={topics}
      columns={columns}
      rowId={(topic) => topic.id}
      sort={sort}
      onSort={onSort}
    />
  );
}
