import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Figure } from '@/components/figure';
import { ReplicaGroupLink } from '@/components/replica-group-link';
import { columnsFor } from '@/components/table-features';
import { formatBytes, formatCount } from '@/lib/format';
import { sortKeyOf } from '@/lib/reading';
import { InSync } from './in-sync';
import { MasterMark } from './master-mark';
import { deadMembers, largestGap, masterState, type ReplicaGroup } from './replica-group';
import { SetFigure } from './set-figure';

const column = columnsFor<ReplicaGroup>();

/** Sorts first the groups that miss most replicas: outside their sets, or dead in them. */
function missingCount(group: ReplicaGroup): number {
  return group.syncStateSet.length - deadMembers(group).length - group.replicas.length;
}

type GroupTableProps = {
  groups: ReplicaGroup[];
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
};

/** One page of groups; sorted by their masters, those without one come first. */
export function GroupTable({ groups, sort, onSort }: GroupTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('name', {
          header: t('replicaGroups.name'),
          sortFn: 'alphanumeric',
          cell: ({ row }) => <ReplicaGroupLink brokerGroupName={row.original.name} />,
        }),
        column.accessor((group) => (masterState(group) === 'leads' ? Number(group.masterId) : -1), {
          id: 'master',
          header: t('replicaGroups.master'),
          sortFn: 'basic',
          cell: ({ row }) => <MasterMark group={row.original} />,
        }),
        column.accessor('masterEpoch', {
          id: 'epoch',
          header: t('replicaGroups.masterEpoch'),
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => formatCount(row.original.masterEpoch),
        }),
        column.display({
          id: 'set',
          header: t('replicaGroups.set'),
          cell: ({ row }) => (
            <SetFigure
              ids={row.original.replicas.map((replica) => replica.brokerId)}
              members={row.original.syncStateSet}
              masterId={row.original.masterId}
              dead={deadMembers(row.original)}
            />
          ),
        }),
        column.accessor('syncStateSetEpoch', {
          id: 'setEpoch',
          header: t('replicaGroups.setEpoch'),
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => formatCount(row.original.syncStateSetEpoch),
        }),
        column.accessor(missingCount, {
          id: 'inSync',
          header: t('replicaGroups.inSync'),
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => <InSync group={row.original} />,
        }),
        column.accessor((group) => sortKeyOf(largestGap(group)), {
          id: 'gap',
          header: t('replicaGroups.gap'),
          sortUndefined: 'last',
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => <Figure reading={largestGap(row.original)} format={formatBytes} />,
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('replicaGroups.title')}
      rows={groups}
      columns={columns}
      rowId={(group) => group.name}
      sort={sort}
      onSort={onSort}
    />
  );
}
