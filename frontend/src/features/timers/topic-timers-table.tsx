import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import { TopicLink } from '@/components/topic-link';
import { formatInt64 } from '@/lib/format';
import type { BrokerTimers } from './timer-queries';

type TopicRow = BrokerTimers['topics'][number];

const column = columnsFor<TopicRow>();

type TopicTimersTableProps = { label: string; topics: TopicRow[] };

/** The topics of a broker with messages that wait, the largest numbers first. */
export function TopicTimersTable({ label, topics }: TopicTimersTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('topic', {
          header: t('timers.topic'),
          cell: ({ row: { original } }) => <TopicLink topicName={original.topic} />,
        }),
        column.accessor((one) => formatInt64(one.waitingCount), {
          id: 'waiting',
          header: t('timers.waiting'),
          meta: { align: 'right' },
        }),
      ]),
    [t],
  );
  return <DataTable label={label} rows={topics} columns={columns} rowId={(one) => one.topic} />;
}
