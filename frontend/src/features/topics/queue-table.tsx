import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Figure } from '@/components/figure';
import { Meter } from '@/components/meter';
import { Observed } from '@/components/observed';
import { columnsFor } from '@/components/table-features';
import { notCollected } from '@/lib/reading';
import { OffsetFigure } from './offset-figure';
import { compareOffsets, type QueueRow, queueRows, type TopicDetail } from './topic-detail';

const column = columnsFor<QueueRow>();

type QueueTableProps = {
  queues: TopicDetail['queues'];
  /** They are the logical queues of a static topic. */
  isLogical: boolean;
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
};

/** Every queue with where it begins and ends; the bars compare the ends. */
export function QueueTable({ queues, isLogical, sort, onSort }: QueueTableProps) {
  const { t } = useTranslation();
  const rows = useMemo(() => queueRows(queues), [queues]);
  const columns = useMemo(() => {
    const offset = (id: 'minOffset' | 'maxOffset' | 'messageCount') =>
      column.accessor((queue) => queue[id] ?? undefined, {
        id,
        header: t(`queues.${id}`),
        sortUndefined: 'last',
        sortFn: (left, right) => compareOffsets(left.original[id], right.original[id]),
        meta: { align: 'right' },
        cell: ({ row }) => <OffsetFigure offset={row.original[id]} />,
      });
    return column.columns([
      column.accessor('brokerGroupName', {
        id: 'group',
        header: t(isLogical ? 'queues.leader' : 'queues.group'),
        sortFn: 'alphanumeric',
      }),
      column.accessor('queueId', {
        id: 'queue',
        header: t(isLogical ? 'queues.globalId' : 'queues.queue'),
        sortFn: 'basic',
        meta: { align: 'right' },
      }),
      offset('minOffset'),
      offset('maxOffset'),
      offset('messageCount'),
      column.display({
        id: 'bar',
        header: t('queues.bar'),
        meta: { width: '28%' },
        cell: ({ row }) => {
          const { start, end, brokerGroupName, queueId } = row.original;
          if (start === null || end === null) return null;
          return (
            <Meter
              start={start}
              end={end}
              label={t(isLogical ? 'queues.logicalBar' : 'queues.barLabel', {
                brokerGroupName,
                queueId,
              })}
            />
          );
        },
      }),
      column.display({
        id: 'observed',
        header: t('queues.observed'),
        cell: ({ row }) =>
          row.original.observedAt ? (
            <Observed bare atMs={Date.parse(row.original.observedAt)} />
          ) : (
            <Figure reading={notCollected} format={String} />
          ),
      }),
    ]);
  }, [isLogical, t]);
  return (
    <DataTable
      label={t(isLogical ? 'queues.logical' : 'queues.title')}
      rows={rows}
      columns={columns}
      rowId={(queue) => `${queue.brokerGroupName}/${queue.queueId}`}
      sort={sort}
      onSort={onSort}
    />
  );
}
