import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { ReplicaGroupLink } from '@/components/replica-group-link';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import type { LeasesQuery } from '@/gql/operations';
import { formatCount } from '@/lib/format';
import { LeaseFigure } from './lease-figure';

type Lease = LeasesQuery['leases']['nodes'][number];
const column = columnsFor<Lease>();

/** Who leads which group, in which epoch, and until when it may acknowledge alone (D9). */
export function LeaseTable({ leases }: { leases: Lease[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('brokerGroupName', {
          header: t('leases.group'),
          cell: ({ row: { original } }) => (
            <ReplicaGroupLink brokerGroupName={original.brokerGroupName} />
          ),
        }),
        column.display({
          id: 'master',
          header: t('leases.master'),
          cell: ({ row: { original } }) =>
            original.masterId === null ? (
              t('leases.noMaster')
            ) : (
              <>
                {original.masterId} <code>{original.masterAddress}</code>
              </>
            ),
        }),
        column.display({
          id: 'alive',
          header: t('leases.alive'),
          cell: ({ row: { original } }) => (
            <StateMark
              tone={original.isMasterAlive ? 'good' : 'bad'}
              label={t(original.isMasterAlive ? 'leases.isHeard' : 'leases.isNotHeard')}
            />
          ),
        }),
        column.accessor((lease) => formatCount(lease.masterEpoch), {
          id: 'epoch',
          header: t('leases.epoch'),
          meta: { align: 'right' },
        }),
        column.accessor((lease) => t(`leasePolicy.${lease.policy}`), {
          id: 'policy',
          header: t('leases.policy'),
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
      label={t('leases.title')}
      rows={leases}
      columns={columns}
      rowId={(lease) => lease.brokerGroupName}
    />
  );
}
