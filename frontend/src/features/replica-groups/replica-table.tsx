import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { replicaColumns } from './replica-columns';
import type { Election, ReplicaGroup } from './replica-group';

/** Every replica with what it last told of itself, and what an election would make of it. */
export function ReplicaTable({ group, election }: { group: ReplicaGroup; election: Election }) {
  const { t } = useTranslation();
  const columns = useMemo(() => replicaColumns(t, group, election), [t, group, election]);
  return (
    <DataTable
      label={t('replicas.title')}
      rows={group.replicas}
      columns={columns}
      rowId={(replica) => replica.brokerId}
    />
  );
}
