import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Figure } from '@/components/figure';
import { Meter } from '@/components/meter';
import { columnsFor } from '@/components/table-features';
import type { CapacityRowFieldsFragment } from '@/gql/operations';
import { formatBytes, formatDays, formatPercent } from '@/lib/format';
import { readingOf, sortKeyOf } from '@/lib/reading';
import classes from './disk-table.module.css';

const column = columnsFor<CapacityRowFieldsFragment>();
const soonDays = 30;

function usedShare(row: CapacityRowFieldsFragment): number | undefined {
  const total = Number(row.diskTotalBytes ?? 0);
  return total > 0 && row.diskFreeBytes !== null
    ? 1 - Number(row.diskFreeBytes) / total
    : undefined;
}

type DiskTableProps = {
  rows: CapacityRowFieldsFragment[];
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
};

/** The disks in the order in which they fill up. */
export function DiskTable({ rows, sort, onSort }: DiskTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('brokerName', {
          id: 'broker',
          header: t('capacity.broker'),
          sortFn: 'alphanumeric',
          cell: ({ row }) => <strong>{row.original.brokerName}</strong>,
        }),
        column.accessor((row) => sortKeyOf(readingOf(row, (disk) => disk.daysUntilFull)), {
          id: 'days',
          header: t('capacity.daysUntilFull'),
          sortUndefined: 'last',
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => {
            const days = row.original.daysUntilFull;
            return (
              <span className={days !== null && days < soonDays ? classes.soon : undefined}>
                <Figure
                  reading={readingOf(row.original, (disk) => disk.daysUntilFull)}
                  format={formatDays}
                />
              </span>
            );
          },
        }),
        column.accessor((row) => sortKeyOf(readingOf(row, (disk) => disk.bytesPerDay)), {
          id: 'growth',
          header: t('capacity.bytesPerDay'),
          sortUndefined: 'last',
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => (
            <Figure
              reading={readingOf(row.original, (disk) => disk.bytesPerDay)}
              format={formatBytes}
            />
          ),
        }),
        column.accessor(usedShare, {
          id: 'used',
          header: t('capacity.used'),
          sortUndefined: 'last',
          sortFn: 'basic',
          meta: { width: '20%' },
          cell: ({ row }) => {
            const used = usedShare(row.original);
            return used === undefined ? null : (
              <Meter end={used} label={t('brokers.diskUsed', { used: formatPercent(used) })} />
            );
          },
        }),
        column.display({
          id: 'free',
          header: t('capacity.free'),
          meta: { align: 'right' },
          cell: ({ row }) => (
            <>
              <Figure
                reading={readingOf(row.original, (disk) => disk.diskFreeBytes)}
                format={formatBytes}
              />
              {' / '}
              <Figure
                reading={readingOf(row.original, (disk) => disk.diskTotalBytes)}
                format={formatBytes}
              />
            </>
          ),
        }),
        column.accessor((row) => row.note ?? '', {
          id: 'note',
          header: t('capacity.note'),
          sortFn: 'alphanumeric',
          cell: ({ row }) => <span className={classes.note}>{row.original.note}</span>,
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('capacity.disks')}
      rows={rows}
      columns={columns}
      rowId={(row) => `${row.clusterName}/${row.brokerName}`}
      sort={sort}
      onSort={onSort}
    />
  );
}
