import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import { TopicLink } from '@/components/topic-link';
import { ExpiryFigure } from './expiry-figure';
import { HolderMark } from './holder-mark';
import { type Lock, lockId } from './lock';
import { LockActions, type LockDeeds } from './lock-actions';
import { SpanFigure } from './span-figure';

const column = columnsFor<Lock>();

type LockTableProps = LockDeeds & { locks: Lock[]; observedAt: string };

/** Who holds which queue in order, since when, and for how much longer. */
export function LockTable(props: LockTableProps) {
  const { locks, observedAt, isBusy, onRelease, onReleaseAll, onExplain } = props;
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('consumerGroup', { header: t('locks.group') }),
        column.accessor('topic', {
          header: t('locks.topic'),
          cell: ({ row: { original } }) => <TopicLink topicName={original.topic} />,
        }),
        column.accessor((lock) => t('locks.at', { id: lock.queueId, broker: lock.groupName }), {
          id: 'queue',
          header: t('locks.queue'),
        }),
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
            <SpanFigure toldMs={original.heldMs} observedAt={observedAt} />
          ),
        }),
        column.display({
          id: 'renewed',
          header: t('locks.renewed'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) => (
            <SpanFigure toldMs={original.renewedMs} observedAt={observedAt} />
          ),
        }),
        column.display({
          id: 'expires',
          header: t('locks.expires'),
          cell: ({ row: { original } }) => (
            <ExpiryFigure
              toldMs={original.expiresInMs}
              observedAt={observedAt}
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
              isBusy={isBusy}
              onRelease={onRelease}
              onReleaseAll={onReleaseAll}
              onExplain={onExplain}
            />
          ),
        }),
      ]),
    [t, observedAt, isBusy, onRelease, onReleaseAll, onExplain],
  );
  return <DataTable label={t('locks.title')} rows={locks} columns={columns} rowId={lockId} />;
}
