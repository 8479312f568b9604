import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { BrokerLink } from '@/components/broker-link';
import { DataTable } from '@/components/data-table';
import { Figure } from '@/components/figure';
import { LastHeard } from '@/components/last-heard';
import { columnsFor } from '@/components/table-features';
import { formatCount } from '@/lib/format';
import { readingOf } from '@/lib/reading';
import type { GroupMember } from './group-member';
import { PhaseWords } from './phase-words';

const column = columnsFor<GroupMember>();

/** The brokers of a group, and what each of them does or waits for. */
export function MemberTable({ members }: { members: GroupMember[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('name', {
          header: t('brokers.name'),
          cell: ({ row: { original } }) => <BrokerLink name={original.name} />,
        }),
        column.accessor('phase', {
          header: t('groupMembers.phase'),
          cell: ({ row: { original } }) => <PhaseWords member={original} />,
        }),
        column.accessor('address', {
          header: t('brokers.address'),
          cell: ({ row: { original } }) => <code>{original.address}</code>,
        }),
        column.accessor('aliveCount', {
          header: t('groupMembers.alive'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) => (
            <Figure reading={readingOf(original, (one) => one.aliveCount)} format={formatCount} />
          ),
        }),
        column.accessor('lockCount', {
          header: t('groupMembers.locks'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) => (
            <Figure reading={readingOf(original, (one) => one.lockCount)} format={formatCount} />
          ),
        }),
        column.accessor('offsetVersion', {
          header: t('groupMembers.offsetVersion'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) => (
            <Figure
              reading={readingOf(original, (one) => one.offsetVersion)}
              format={formatCount}
            />
          ),
        }),
        column.accessor('lastHeartbeatAt', {
          header: t('groupMembers.lastHeard'),
          cell: ({ row: { original } }) => (
            <LastHeard at={original.lastHeartbeatAt} isAlive={original.phase !== 'SILENT'} brief />
          ),
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('groupMembers.title')}
      rows={members}
      columns={columns}
      rowId={(member) => member.name}
    />
  );
}
