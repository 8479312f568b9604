import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Figure } from '@/components/figure';
import { Meter } from '@/components/meter';
import { columnsFor } from '@/components/table-features';
import { formatDateTime, formatInt64 } from '@/lib/format';
import { unknown } from '@/lib/reading';
import { AgeFigure } from './age-figure';
import { type ConsumerQueue, compareCounts, lagShares, queueId } from './consumer-group';

const column = columnsFor<ConsumerQueue>();

type LagTableProps = {
  queues: ConsumerQueue[];
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
};

/** Every queue that the group reads: who reads it, where the group goes on, what is left. */
export function LagTable({ queues, sort, onSort }: LagTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(() => {
    const shares = lagShares(queues);
    const count = (id: 'committed' | 'end' | 'lag') =>
      column.accessor((queue) => queue[id] ?? undefined, {
        id,
        header: t(`groupLag.${id}`),
        sortUndefined: 'last',
        sortFn: (left, right) => compareCounts(left.original[id], right.original[id]),
        meta: { align: 'right' },
        cell: ({ row }) => {
          const told = row.original[id];
          if (told !== null) return formatInt64(told);
          if (id === 'committed') return t('groupLag.never');
          return <Figure reading={unknown} format={String} />;
        },
      });
    return column.columns([
      column.accessor('topic', { header: t('groupLag.topic'), sortFn: 'alphanumeric' }),
      column.accessor('groupName', {
        id: 'group',
        header: t('groupLag.group'),
        sortFn: 'alphanumeric',
      }),
      column.accessor('queueId', {
        id: 'queue',
        header: t('groupLag.queue'),
        sortFn: 'basic',
        meta: { align: 'right' },
      }),
      column.accessor((queue) => queue.owner ?? undefined, {
        id: 'owner',
        header: t('groupLag.owner'),
        sortUndefined: 'last',
        sortFn: 'alphanumeric',
        cell: ({ row }) => row.original.owner ?? t('groupLag.nobody'),
      }),
      count('committed'),
      count('end'),
      count('lag'),
      column.display({
        id: 'bar',
        header: t('groupLag.bar'),
        meta: { width: '14%' },
        cell: ({ row: { original } }) => {
          const share = shares.get(queueId(original));
          if (share === undefined) return null;
          const { topic, queueId: number } = original;
          return <Meter end={share} label={t('groupLag.barLabel', { topic, queueId: number })} />;
        },
      }),
      column.accessor((queue) => queue.waitingMs ?? undefined, {
        id: 'waiting',
        header: t('groupLag.waiting'),
        sortUndefined: 'last',
        sortFn: (left, right) => compareCounts(left.original.waitingMs, right.original.waitingMs),
        meta: { align: 'right' },
        cell: ({ row }) => <AgeFigure waitingMs={row.original.waitingMs} />,
      }),
      column.accessor((queue) => queue.consumedAt ?? undefined, {
        id: 'consumed',
        header: t('groupLag.consumed'),
        sortUndefined: 'last',
        sortFn: 'basic',
        cell: ({ row }) =>
          row.original.consumedAt === null
            ? t('groupLag.nothing')
            : formatDateTime(Date.parse(row.original.consumedAt)),
      }),
    ]);
  }, [queues, t]);
  return (
    <DataTable
      label={t('groupLag.title')}
      rows={queues}
      columns={columns}
      rowId={queueId}
      sort={sort}
      onSort={onSort}
    />
  );
}
