import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Meter } from '@/components/meter';
import { columnsFor } from '@/components/table-features';
import { formatDateTime } from '@/lib/format';
import { AgeFigure } from './age-figure';
import { type ConsumerQueue, compareCounts, lagShares, queueId } from './consumer-group';
import { OffsetCell } from './offset-cell';

const column = columnsFor<ConsumerQueue>();

type LagTableProps = {
  queues: ConsumerQueue[];
  /** Of these topics, queues and offsets are logical. */
  staticTopics: ReadonlySet<string>;
  /** The members keep their own offsets. */
  isBroadcasting: boolean;
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
};

/** Every queue that the group reads: who reads it, where the group goes on, what is left. */
export function LagTable(props: LagTableProps) {
  const { queues, staticTopics, isBroadcasting, sort, onSort } = props;
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
        cell: ({ row }) => (
          <OffsetCell queue={row.original} id={id} isBroadcasting={isBroadcasting} />
        ),
      });
    return column.columns([
      column.accessor('topic', { header: t('groupLag.topic'), sortFn: 'alphanumeric' }),
      column.accessor('brokerGroupName', {
        id: 'group',
        header: t('groupLag.group'),
        sortFn: 'alphanumeric',
      }),
      column.accessor('queueId', {
        id: 'queue',
        header: t('groupLag.queue'),
        sortFn: 'basic',
        meta: { align: 'right' },
        cell: ({ row: { original } }) =>
          staticTopics.has(original.topic)
            ? t('groupLag.logical', { globalId: original.queueId })
            : original.queueId,
      }),
      column.accessor((queue) => queue.owner ?? undefined, {
        id: 'owner',
        header: t('groupLag.owner'),
        sortUndefined: 'last',
        sortFn: 'alphanumeric',
        cell: ({ row }) => row.original.owner ?? t('groupLag.noMember'),
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
        cell: ({ row }) => (
          <AgeFigure waitingMs={row.original.waitingMs} isApplicable={!isBroadcasting} />
        ),
      }),
      column.accessor((queue) => queue.consumedAt ?? undefined, {
        id: 'consumed',
        header: t('groupLag.consumed'),
        sortUndefined: 'last',
        sortFn: 'basic',
        cell: ({ row }) =>
          row.original.consumedAt === null
            ? isBroadcasting
              ? '–'
              : t('groupLag.nothing')
            : formatDateTime(Date.parse(row.original.consumedAt)),
      }),
    ]);
  }, [queues, staticTopics, isBroadcasting, t]);
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
