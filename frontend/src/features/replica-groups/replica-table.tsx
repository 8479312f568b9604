import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { replicaColumns } from './replica-columns';
import type { Election, ReplicaGroup } from './replica-group';

/** Every replica with its last report, and with its result in an election. */
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
