import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import type { ClientFieldsFragment } from '@/gql/operations';
import { addressesOf, versionsOf } from './client';
import { HeardFigure } from './heard-figure';

const column = columnsFor<ClientFieldsFragment>();

/** One page of clients; a click on an id opens its connections. */
export function ClientTable({ clients }: { clients: ClientFieldsFragment[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('clientId', {
          header: t('clients.id'),
          cell: ({ row: { original } }) => (
            <Link
              to="/clients/$clientId"
              params={{ clientId: original.clientId }}
              search={(now) => (now.cluster ? { cluster: now.cluster } : {})}
            >
              {original.clientId}
            </Link>
          ),
        }),
        column.accessor(({ roles }) => roles.map((role) => t(`clientRole.${role}`)).join(', '), {
          id: 'roles',
          header: t('clients.roles'),
        }),
        column.accessor(({ consumerGroups }) => consumerGroups.join(', '), {
          id: 'consumes',
          header: t('clients.consumes'),
        }),
        column.accessor(({ producerGroups }) => producerGroups.join(', '), {
          id: 'produces',
          header: t('clients.produces'),
        }),
        column.accessor((one) => addressesOf(one).join(', '), {
          id: 'address',
          header: t('clients.address'),
        }),
        column.accessor((one) => versionsOf(one).join(', '), {
          id: 'version',
          header: t('clients.version'),
        }),
        column.accessor(({ connections }) => connections.length, {
          id: 'connections',
          header: t('clients.connections'),
          meta: { align: 'right' },
        }),
        column.display({
          id: 'heard',
          header: t('clients.heard'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) => <HeardFigure heardMs={original.heardMs} />,
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('clients.title')}
      rows={clients}
      columns={columns}
      rowId={({ clientId }) => clientId}
    />
  );
}
