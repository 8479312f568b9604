import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { BrokerLink } from '@/components/broker-link';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import { type ClientConnection, connectionId, versionOf } from './client';
import { HeardFigure } from './heard-figure';

const column = columnsFor<ClientConnection>();

/** The brokers that a client is connected to, and what each broker reports about it. */
export function ConnectionTable({ connections }: { connections: ClientConnection[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('brokerName', {
          id: 'broker',
          header: t('connection.broker'),
          cell: ({ row }) => <BrokerLink name={row.original.brokerName} />,
        }),
        column.accessor('brokerAddress', { header: t('connection.brokerAddress') }),
        column.accessor('address', { header: t('connection.from') }),
        column.accessor(versionOf, { id: 'version', header: t('clients.version') }),
        column.accessor(({ consumerGroups }) => consumerGroups.join(', '), {
          id: 'consumes',
          header: t('clients.consumes'),
        }),
        column.accessor(({ producerGroups }) => producerGroups.join(', '), {
          id: 'produces',
          header: t('clients.produces'),
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
      label={t('connection.title')}
      rows={connections}
      columns={columns}
      rowId={connectionId}
    />
  );
}
