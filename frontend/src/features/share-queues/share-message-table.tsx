import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import { WriteButton } from '@/components/write-button';
import { formatCount, formatInt64, formatSpan } from '@/lib/format';
import { holderOf, type ShareMessage } from './share-queue';

const column = columnsFor<ShareMessage>();

type ShareMessageTableProps = {
  messages: ShareMessage[];
  isBusy: boolean;
  onRelease: (clientId: string) => void;
};

/** The delivered messages that are not finished, with the client that has each. */
export function ShareMessageTable({ messages, isBusy, onRelease }: ShareMessageTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(() => {
    const client = ({ holder, clientId }: ShareMessage) =>
      holder === null ? t('shareQueues.noConsumer') : (clientId ?? t('shareQueues.noId'));
    const span = (name: 'acquiredMs' | 'deliveredMs' | 'dueInMs') => (one: ShareMessage) =>
      formatSpan(Number(one[name]));
    const right = { meta: { align: 'right' } } as const;
    return column.columns([
      column.accessor((one) => formatInt64(one.offset), {
        id: 'offset',
        header: t('shareQueues.offset'),
        ...right,
      }),
      column.accessor(client, {
        id: 'client',
        header: t('shareQueues.client'),
        cell: ({ getValue }) => <code>{getValue()}</code>,
      }),
      column.display({
        id: 'holder',
        header: t('shareQueues.state'),
        cell: ({ row: { original } }) => {
          const { word, tone } = holderOf(original);
          return <StateMark tone={tone} label={t(word)} />;
        },
      }),
      column.accessor((one) => formatCount(one.deliveryCount), {
        id: 'deliveries',
        header: t('shareQueues.deliveries'),
        ...right,
      }),
      column.accessor(span('acquiredMs'), {
        id: 'acquired',
        header: t('shareQueues.since'),
        ...right,
      }),
      column.accessor(span('deliveredMs'), {
        id: 'first',
        header: t('shareQueues.sinceFirst'),
        ...right,
      }),
      column.accessor(span('dueInMs'), { id: 'due', header: t('shareQueues.dueIn'), ...right }),
      column.display({
        id: 'actions',
        header: t('table.actions'),
        cell: ({ row: { original } }) => {
          const { clientId, offset } = original;
          return clientId === null ? null : (
            <WriteButton
              needs="change"
              size="compact-xs"
              variant="default"
              disabled={isBusy}
              aria-label={t('shareQueues.releaseLabel', { client: clientId, offset })}
              onClick={() => onRelease(clientId)}
            >
              {t('shareQueues.release')}
            </WriteButton>
          );
        },
      }),
    ]);
  }, [t, isBusy, onRelease]);
  return (
    <DataTable
      label={t('shareQueues.messages')}
      rows={messages}
      columns={columns}
      rowId={(one) => one.offset}
    />
  );
}
