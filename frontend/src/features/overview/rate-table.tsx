import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Figure } from '@/components/figure';
import { columnsFor } from '@/components/table-features';
import { formatClock, formatRate } from '@/lib/format';
import type { RatePoint } from '@/lib/live/sample-history';
import { readingOf } from '@/lib/reading';

const column = columnsFor<RatePoint>();

/** What the chart shows, as figures, newest first. */
export function RateTable({ label, points }: { label: string; points: RatePoint[] }) {
  const { t } = useTranslation();
  const rows = useMemo(() => points.toReversed(), [points]);
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor((point) => formatClock(point.atMs), {
          id: 'time',
          header: t('rates.time'),
        }),
        column.display({
          id: 'in',
          header: t('rates.in'),
          meta: { align: 'right' },
          cell: ({ row }) => (
            <Figure reading={readingOf(row.original, (point) => point.in)} format={formatRate} />
          ),
        }),
        column.display({
          id: 'out',
          header: t('rates.out'),
          meta: { align: 'right' },
          cell: ({ row }) => (
            <Figure reading={readingOf(row.original, (point) => point.out)} format={formatRate} />
          ),
        }),
      ]),
    [t],
  );
  return (
    <DataTable label={label} rows={rows} columns={columns} rowId={(point) => String(point.atMs)} />
  );
}
