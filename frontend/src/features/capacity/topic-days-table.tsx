import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import type { CapacityRowFieldsFragment } from '@/gql/operations';
import { formatBytes } from '@/lib/format';
import { DayCell } from './day-cell';
import { daysOf, type TopicDaysRow, topicDays } from './topic-days';

const column = columnsFor<TopicDaysRow>();

type TopicDaysTableProps = {
  rows: CapacityRowFieldsFragment[];
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
};

/** Bytes a day by topic and broker, the busiest cells the darkest. */
export function TopicDaysTable({ rows, sort, onSort }: TopicDaysTableProps) {
  const { t } = useTranslation();
  const days = useMemo(() => daysOf(rows), [rows]);
  const table = useMemo(() => topicDays(rows, days), [rows, days]);
  const columns = useMemo(() => {
    const most = Math.max(1, ...table.flatMap((row) => Object.values(row.days).map(Number)));
    return column.columns([
      column.accessor('topicName', {
        id: 'topic',
        header: t('capacity.topic'),
        sortFn: 'alphanumeric',
        cell: ({ row }) => <strong>{row.original.topicName}</strong>,
      }),
      column.accessor('brokerName', {
        id: 'broker',
        header: t('capacity.broker'),
        sortFn: 'alphanumeric',
      }),
      ...days.map((day) =>
        column.accessor((row) => row.days[day] ?? undefined, {
          id: day,
          header: day,
          sortUndefined: 'last',
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => <DayCell bytes={row.original.days[day]} most={most} />,
        }),
      ),
      column.accessor('total', {
        header: t('capacity.total'),
        sortFn: 'basic',
        meta: { align: 'right' },
        cell: ({ row }) => formatBytes(row.original.total),
      }),
    ]);
  }, [days, table, t]);
  return (
    <DataTable
      label={t('capacity.topicDays')}
      rows={table}
      columns={columns}
      rowId={(row) => row.id}
      sort={sort}
      onSort={onSort}
    />
  );
}
