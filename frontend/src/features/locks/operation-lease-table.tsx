import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { OperationLink } from '@/components/operation-link';
import { columnsFor } from '@/components/table-features';
import type { OperationLeasesQuery } from '@/gql/operations';
import { formatDateTime } from '@/lib/format';
import { capitalised, wordsOf } from '@/lib/words';
import { LeaseFigure } from './lease-figure';

type Lease = OperationLeasesQuery['operationLeases']['nodes'][number];
const column = columnsFor<Lease>();

/** Which operation a worker holds, under which fencing number, and when it was heard last. */
export function OperationLeaseTable({ leases }: { leases: Lease[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.display({
          id: 'operation',
          header: t('operationLeases.operation'),
          cell: ({ row: { original } }) => (
            <OperationLink operationId={original.operationId}>
              {capitalised(wordsOf(original.kind))}
            </OperationLink>
          ),
        }),
        column.accessor('target', { header: t('operationLeases.target') }),
        column.accessor((lease) => lease.step ?? t('operationLeases.readingBack'), {
          id: 'step',
          header: t('operationLeases.step'),
        }),
        column.accessor('fence', {
          header: t('operationLeases.fence'),
          meta: { align: 'right' },
        }),
        column.accessor((lease) => formatDateTime(Date.parse(lease.renewedAt)), {
          id: 'renewed',
          header: t('operationLeases.renewed'),
        }),
        column.display({
          id: 'ends',
          header: t('leases.ends'),
          cell: ({ row: { original } }) => <LeaseFigure endsAt={original.endsAt} />,
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('operationLeases.title')}
      rows={leases}
      columns={columns}
      rowId={(lease) => lease.operationId}
    />
  );
}
