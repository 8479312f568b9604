import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { OperationLink } from '@/components/operation-link';
import { columnsFor } from '@/components/table-features';
import type { AuditEntryFieldsFragment } from '@/gql/operations';
import { formatDateTime, formatInt64 } from '@/lib/format';
import { AuditDetails } from './audit-details';

const column = columnsFor<AuditEntryFieldsFragment>();

/** Who did what, from where and on what, the newest first. */
export function AuditTable({ entries }: { entries: AuditEntryFieldsFragment[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor((entry) => formatInt64(entry.number), {
          id: 'number',
          header: t('audit.number'),
          meta: { align: 'right' },
        }),
        column.accessor((entry) => formatDateTime(Date.parse(entry.happenedAt)), {
          id: 'at',
          header: t('audit.at'),
        }),
        column.accessor('actor', { header: t('audit.actor') }),
        column.accessor('source', { header: t('audit.source') }),
        column.accessor('action', { header: t('audit.action') }),
        column.accessor('subject', { header: t('audit.subject') }),
        column.accessor('clusterName', { header: t('audit.cluster') }),
        column.display({
          id: 'operation',
          header: t('audit.operation'),
          cell: ({ row: { original } }) =>
            original.operationId === null ? null : (
              <OperationLink operationId={original.operationId}>
                <code>{original.operationId.slice(0, 8)}</code>
              </OperationLink>
            ),
        }),
        column.display({
          id: 'details',
          header: t('audit.details'),
          meta: { width: '30%' },
          cell: ({ row: { original } }) => <AuditDetails entry={original} />,
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('audit.title')}
      rows={entries}
      columns={columns}
      rowId={(entry) => entry.number}
    />
  );
}
