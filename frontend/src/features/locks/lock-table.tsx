import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import { TopicLink } from '@/components/topic-link';
import { ExpiryFigure } from './expiry-figure';
import { HolderMark } from './holder-mark';
import { type Lock, lockId, placeWords } from './lock';
import { LockActions, type LockDeeds } from './lock-actions';
import { SpanFigure } from './span-figure';

/** What changes with time is in the rows: other columns would be other buttons, without the focus. */
type LockRow = Lock & { observedAt: string; isBusy: boolean };

const column = columnsFor<LockRow>();

type LockTableProps = LockDeeds & { locks: Lock[]; observedAt: string };

/** Who holds which queue in order, since when, and for how much longer. */
export function LockTable(props: LockTableProps) {
  const { locks, observedAt, isBusy, onRelease, onReleaseAll, onExplain } = props;
  const { t } = useTranslation();
  const rows = useMemo(
    () => locks.map((lock): LockRow => ({ ...lock, observedAt, isBusy })),
    [locks, observedAt, isBusy],
  );
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('consumerGroupName', { header: t('locks.group') }),
        column.accessor('topic', {
          header: t('locks.topic'),
          cell: ({ row: { original } }) => <TopicLink topicName={original.topic} />,
        }),
        column.accessor(
          (lock) =>
            t(placeWords(lock), {
              id: lock.queueId,
              physical: lock.physicalQueueId,
              broker: lock.brokerGroupName,
            }),
          {
            id: 'queue',
            header: t('locks.queue'),
          },
        ),
        column.accessor('clientId', {
          header: t('locks.client'),
          cell: ({ row: { original } }) => <code>{original.clientId}</code>,
        }),
        column.display({
          id: 'holder',
          header: t('locks.holder'),
          cell: ({ row: { original } }) => <HolderMark lock={original} />,
        }),
        column.display({
          id: 'held',
          header: t('locks.held'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) => (
            <SpanFigure reportedMs={original.heldMs} observedAt={original.observedAt} />
          ),
        }),
        column.display({
          id: 'renewed',
          header: t('locks.renewed'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) => (
            <SpanFigure reportedMs={original.renewedMs} observedAt={original.observedAt} />
          ),
        }),
        column.display({
          id: 'expires',
          header: t('locks.expires'),
          cell: ({ row: { original } }) => (
            <ExpiryFigure
              reportedMs={original.expiresInMs}
              observedAt={original.observedAt}
              label={t('locks.expiryLabel', { queue: `${original.topic}/${original.queueId}` })}
            />
          ),
        }),
        column.display({
          id: 'actions',
          header: t('table.actions'),
          cell: ({ row: { original } }) => (
            <LockActions
              lock={original}
              isBusy={original.isBusy}
              onRelease={onRelease}
              onReleaseAll={onReleaseAll}
              onExplain={onExplain}
            />
          ),
        }),
      ]),
    [t, onRelease, onReleaseAll, onExplain],
  );
  return <DataTable label={t('locks.title')} rows={rows} columns={columns} rowId={lockId} />;
}
