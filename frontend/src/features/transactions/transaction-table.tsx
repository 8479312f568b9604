import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import { TopicLink } from '@/components/topic-link';
import { WriteButton } from '@/components/write-button';
import { formatSpan } from '@/lib/format';
import { type Transaction, transactionId } from './transaction-queries';
import classes from './transaction-table.module.css';

type TransactionRow = Transaction & { isBusy: boolean };

const column = columnsFor<TransactionRow>();

export type Decision = 'commit' | 'rollBack';

const decisions: readonly Decision[] = ['commit', 'rollBack'];

type TransactionTableProps = {
  transactions: Transaction[];
  isBusy: boolean;
  onDecide: (transaction: Transaction, decision: Decision) => void;
};

/** The transactions that no producer has decided, with how often the broker asked. */
export function TransactionTable({ transactions, isBusy, onDecide }: TransactionTableProps) {
  const { t } = useTranslation();
  const rows = useMemo(
    () => transactions.map((one): TransactionRow => ({ ...one, isBusy })),
    [transactions, isBusy],
  );
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('transactionId', {
          header: t('transactions.transaction'),
          cell: ({ row: { original } }) => <code>{original.transactionId}</code>,
        }),
        column.accessor('producerGroupName', { header: t('transactions.producerGroup') }),
        column.accessor('topic', {
          header: t('transactions.topic'),
          cell: ({ row: { original } }) => <TopicLink topicName={original.topic} />,
        }),
        column.accessor(
          (one) => t('transactions.at', { id: one.queueId, broker: one.brokerGroupName }),
          { id: 'queue', header: t('transactions.queue') },
        ),
        column.accessor((one) => formatSpan(Number(one.ageMs)), {
          id: 'age',
          header: t('transactions.age'),
          meta: { align: 'right' },
        }),
        column.accessor('checkCount', {
          header: t('transactions.checks'),
          meta: { align: 'right' },
        }),
        column.accessor('producerCount', {
          header: t('transactions.producers'),
          meta: { align: 'right' },
        }),
        column.display({
          id: 'actions',
          header: t('table.actions'),
          cell: ({ row: { original } }) => (
            <span className={classes.actions}>
              {decisions.map((decision) => (
                <WriteButton
                  key={decision}
                  needs="change"
                  size="compact-xs"
                  variant="default"
                  disabled={original.isBusy}
                  aria-label={t(`transactions.${decision}Label`, { id: original.transactionId })}
                  onClick={() => onDecide(original, decision)}
                >
                  {t(`transactions.${decision}`)}
                </WriteButton>
              ))}
            </span>
          ),
        }),
      ]),
    [t, onDecide],
  );
  return (
    <DataTable
      label={t('transactions.title')}
      rows={rows}
      columns={columns}
      rowId={transactionId}
    />
  );
}
