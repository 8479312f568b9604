import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Advice } from '@/components/advice';
import { DataTable } from '@/components/data-table';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import { formatCount, formatDateTime } from '@/lib/format';
import { ChangeCause } from './change-cause';
import { changeWords, type GroupChange } from './group-change';
import { SetFigure } from './set-figure';

type ChangeTableProps = {
  changes: GroupChange[];
  /** The change before the last of the page, to compare that one with. */
  earlier: GroupChange | undefined;
};

type Row = { change: GroupChange; before: GroupChange | undefined };
const column = columnsFor<Row>();

/** What happened to the group, the newest first, with the set as it was after each change. */
export function ChangeTable({ changes, earlier }: ChangeTableProps) {
  const { t } = useTranslation();
  const rows = useMemo(
    () => changes.map((change, index) => ({ change, before: changes[index + 1] ?? earlier })),
    [changes, earlier],
  );
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor(({ change }) => formatDateTime(Date.parse(change.changedAt)), {
          id: 'at',
          header: t('changes.at'),
        }),
        column.display({
          id: 'what',
          header: t('changes.what'),
          meta: { width: '40%' },
          cell: ({ row }) => {
            const { word, values } = changeWords(row.original.change, row.original.before);
            const text = t(`change.${word}`, values);
            const { kind, warning } = row.original.change;
            if (warning !== null) {
              return (
                <>
                  <strong>{text}</strong>
                  <div>
                    <StateMark tone="bad" label={<Advice>{warning}</Advice>} wraps />
                  </div>
                </>
              );
            }
            if (kind === 'MASTER_LOST') return <StateMark tone="bad" label={text} />;
            return kind === 'MASTER_ELECTED' ? <strong>{text}</strong> : text;
          },
        }),
        column.accessor(({ change }) => formatCount(change.masterEpoch), {
          id: 'masterEpoch',
          header: t('changes.masterEpoch'),
          meta: { align: 'right' },
        }),
        column.display({
          id: 'set',
          header: t('changes.set'),
          cell: ({ row: { original } }) => (
            <SetFigure
              ids={original.change.replicaAddresses.map(({ brokerId }) => brokerId)}
              members={original.change.syncStateSet}
              masterId={original.change.masterId}
            />
          ),
        }),
        column.accessor(({ change }) => formatCount(change.syncStateSetEpoch), {
          id: 'setEpoch',
          header: t('changes.setEpoch'),
          meta: { align: 'right' },
        }),
        column.display({
          id: 'cause',
          header: t('changes.cause'),
          cell: ({ row }) => <ChangeCause cause={row.original.change.cause} />,
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('changes.title')}
      rows={rows}
      columns={columns}
      rowId={({ change }) => change.id}
    />
  );
}
