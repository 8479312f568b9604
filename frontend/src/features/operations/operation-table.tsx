import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { OperationLink } from '@/components/operation-link';
import { columnsFor } from '@/components/table-features';
import { formatDateTime } from '@/lib/format';
import type { Staleness } from '@/lib/staleness';
import { capitalised, wordsOf } from '@/lib/words';
import { doneCount, type OperationSummary } from './operation';
import { OperationMark } from './operation-mark';

const column = columnsFor<OperationSummary>();

type OperationTableProps = { operations: OperationSummary[]; staleness: Staleness };

/** One page of operations, the newest first. */
export function OperationTable({ operations, staleness }: OperationTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor((one) => formatDateTime(Date.parse(one.plannedAt)), {
          id: 'plannedAt',
          header: t('operation.plannedAt'),
        }),
        column.display({
          id: 'summary',
          header: t('operation.what'),
          meta: { width: '36%', wraps: true },
          cell: ({ row: { original } }) => (
            <OperationLink operationId={original.id}>{original.plan.summary}</OperationLink>
          ),
        }),
        column.accessor((one) => capitalised(wordsOf(one.kind)), {
          id: 'kind',
          header: t('operation.kind'),
        }),
        column.accessor('target', { header: t('operation.target') }),
        column.accessor('clusterName', { header: t('operation.cluster') }),
        column.accessor((one) => t(`risk.${one.plan.risk}`), {
          id: 'risk',
          header: t('operation.risk'),
        }),
        column.display({
          id: 'state',
          header: t('operation.state'),
          cell: ({ row: { original } }) => (
            <OperationMark operation={original} staleness={staleness} />
          ),
        }),
        column.accessor(
          ({ steps }) => t('operation.progress', { done: doneCount(steps), total: steps.length }),
          { id: 'steps', header: t('operation.steps'), meta: { align: 'right' } },
        ),
        column.accessor('requestedBy', { header: t('operation.by') }),
      ]),
    [t, staleness],
  );
  return (
    <DataTable
      label={t('operations.title')}
      rows={operations}
      columns={columns}
      rowId={(one) => one.id}
    />
  );
}
