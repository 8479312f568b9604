import { Button } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import type { UserFieldsFragment } from '@/gql/operations';
import { formatDateTime } from '@/lib/format';
import classes from './access-form.module.css';
import { UserStanding } from './user-standing';

const column = columnsFor<UserFieldsFragment>();

export type UserAct = 'role' | 'disable' | 'enable' | 'reset';

type UserTableProps = {
  users: UserFieldsFragment[];
  onAct: (user: UserFieldsFragment, act: UserAct) => void;
};

/** Who may sign in, in which role, and what can be done about it. */
export function UserTable({ users, onAct }: UserTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('name', { header: t('users.name') }),
        column.accessor((user) => t(`userRole.${user.role}`), {
          id: 'role',
          header: t('users.role'),
        }),
        column.accessor((user) => user.clusterPatterns.join(', '), {
          id: 'clusters',
          header: t('patterns.label'),
          cell: ({ getValue }) => <code>{getValue()}</code>,
        }),
        column.display({
          id: 'state',
          header: t('users.state'),
          cell: ({ row: { original } }) => <UserStanding user={original} />,
        }),
        column.accessor((user) => formatDateTime(Date.parse(user.createdAt)), {
          id: 'created',
          header: t('users.created'),
        }),
        column.display({
          id: 'actions',
          header: t('table.actions'),
          cell: ({ row: { original } }) => {
            const acts: UserAct[] = ['role', original.disabledAt ? 'enable' : 'disable', 'reset'];
            return (
              <span className={classes.actions}>
                {acts.map((act) => (
                  <Button
                    key={act}
                    size="compact-xs"
                    variant="default"
                    aria-label={t(`userDeed.${act}.label`, { name: original.name })}
                    onClick={() => onAct(original, act)}
                  >
                    {t(`userDeed.${act}.open`)}
                  </Button>
                ))}
              </span>
            );
          },
        }),
      ]),
    [t, onAct],
  );
  return (
    <DataTable
      label={t('users.title')}
      rows={users}
      columns={columns}
      rowId={(user) => user.name}
    />
  );
}
