import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import type { CapacityReportSummaryFragment } from '@/gql/operations';
import { formatDateTime, formatSpan } from '@/lib/format';
import { toneOf } from './report-status';

const column = columnsFor<CapacityReportSummaryFragment>();

function duration(report: CapacityReportSummaryFragment): string {
  if (report.startedAt === null || report.finishedAt === null) return '';
  return formatSpan(Date.parse(report.finishedAt) - Date.parse(report.startedAt));
}

type ReportListProps = { reports: CapacityReportSummaryFragment[]; shownId: string | undefined };

/** The reports so far, newest first. */
export function ReportList({ reports, shownId }: ReportListProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('requestedAt', {
          header: t('reports.requestedAt'),
          cell: ({ row }) => (
            <Link
              from="/capacity"
              to="/capacity"
              search={(previous) => ({ ...previous, report: row.original.id })}
              aria-current={row.original.id === shownId ? 'true' : undefined}
            >
              {formatDateTime(Date.parse(row.original.requestedAt))}
            </Link>
          ),
        }),
        column.accessor('requestedBy', { header: t('reports.requestedBy') }),
        column.accessor('status', {
          header: t('reports.status'),
          cell: ({ row }) => (
            <StateMark
              tone={toneOf(row.original.status)}
              label={t(`reportStatus.${row.original.status}`, {
                defaultValue: row.original.status,
              })}
            />
          ),
        }),
        column.accessor(duration, {
          id: 'took',
          header: t('reports.took'),
          meta: { align: 'right' },
        }),
        column.display({
          id: 'shown',
          header: () => <span className="visually-hidden">{t('reports.shown')}</span>,
          cell: ({ row }) => (row.original.id === shownId ? t('reports.shown') : ''),
        }),
      ]),
    [shownId, t],
  );
  return (
    <DataTable
      label={t('reports.title')}
      rows={reports}
      columns={columns}
      rowId={(row) => row.id}
    />
  );
}
