import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Meter } from '@/components/meter';
import { columnsFor } from '@/components/table-features';
import type { TimerSpanFieldsFragment } from '@/gql/operations';
import { formatDateTime, formatInt64 } from '@/lib/format';

type DueRow = { startsAt: string; from: string; count: string; share: number };

const column = columnsFor<DueRow>();

type DueTableProps = { label: string; spans: readonly TimerSpanFieldsFragment[] };

/** Minutes or hours with the number of messages due in each, and a bar to compare them. */
export function DueTable({ label, spans }: DueTableProps) {
  const { t } = useTranslation();
  const rows = useMemo(() => {
    const most = Math.max(1, ...spans.map(({ waitingCount }) => Number(waitingCount)));
    return spans.map(
      ({ startsAt, waitingCount }): DueRow => ({
        startsAt,
        from: formatDateTime(Date.parse(startsAt)),
        count: formatInt64(waitingCount),
        share: Number(waitingCount) / most,
      }),
    );
  }, [spans]);
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('from', { header: t('timers.from') }),
        column.accessor('count', { header: t('timers.messages'), meta: { align: 'right' } }),
        column.display({
          id: 'bar',
          header: t('timers.share'),
          cell: ({ row: { original } }) => (
            <Meter end={original.share} label={t('timers.barLabel', { from: original.from })} />
          ),
        }),
      ]),
    [t],
  );
  return <DataTable label={label} rows={rows} columns={columns} rowId={(one) => one.startsAt} />;
}
