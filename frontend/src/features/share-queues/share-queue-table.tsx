import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { ReplicaGroupLink } from '@/components/replica-group-link';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import { WriteButton } from '@/components/write-button';
import { formatCount, formatInt64, formatSpan } from '@/lib/format';
import { type ShareQueue, shareQueueId, stateOf } from './share-queue';

const column = columnsFor<ShareQueue>();

type ShareQueueTableProps = { queues: ShareQueue[]; onShow: (queue: ShareQueue) => void };

/** The share queues with what consumers have of each, and how far their groups are. */
export function ShareQueueTable({ queues, onShow }: ShareQueueTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(() => {
    const right = { meta: { align: 'right' } } as const;
    // Where there is no room, the messages of the share queue say the same.
    const spare = { meta: { align: 'right', spare: true } } as const;
    return column.columns([
      column.accessor('consumerGroupName', { header: t('shareQueues.group') }),
      column.accessor((one) => `${one.topic}/${one.queueId}`, {
        id: 'queue',
        header: t('shareQueues.queue'),
      }),
      column.accessor('brokerGroupName', {
        header: t('shareQueues.brokerGroup'),
        cell: ({ row: { original } }) => (
          <ReplicaGroupLink brokerGroupName={original.brokerGroupName} />
        ),
      }),
      column.accessor((one) => one.owner ?? t('shareQueues.noOwner'), {
        id: 'owner',
        header: t('shareQueues.owner'),
      }),
      column.accessor((one) => `${formatInt64(one.position)} – ${formatInt64(one.windowEnd)}`, {
        id: 'window',
        header: t('shareQueues.window'),
        ...right,
      }),
      column.accessor((one) => formatInt64(one.unfinishedCount), {
        id: 'unfinished',
        header: t('shareQueues.unfinished'),
        ...right,
      }),
      column.accessor((one) => formatCount(one.acquiredCount), {
        id: 'acquired',
        header: t('shareQueues.inFlight'),
        ...right,
      }),
      column.accessor(
        ({ oldestAcquiredMs: age }) =>
          age === null ? t('shareQueues.noAge') : formatSpan(Number(age)),
        { id: 'oldest', header: t('shareQueues.oldest'), ...spare },
      ),
      column.accessor((one) => formatInt64(one.redeliveredCount), {
        id: 'redelivered',
        header: t('shareQueues.redelivered'),
        ...spare,
      }),
      column.display({
        id: 'state',
        header: t('shareQueues.state'),
        cell: ({ row: { original } }) => {
          const { word, tone } = stateOf(original);
          return <StateMark tone={tone} label={t(word)} />;
        },
      }),
      column.display({
        id: 'actions',
        header: t('table.actions'),
        cell: ({ row: { original } }) => (
          <WriteButton
            needs="read"
            size="compact-xs"
            variant="default"
            aria-label={t('shareQueues.showLabel', {
              queue: `${original.topic}/${original.queueId}`,
              group: original.consumerGroupName,
            })}
            onClick={() => onShow(original)}
          >
            {t('shareQueues.show')}
          </WriteButton>
        ),
      }),
    ]);
  }, [t, onShow]);
  return (
    <DataTable label={t('shareQueues.list')} rows={queues} columns={columns} rowId={shareQueueId} />
  );
}
