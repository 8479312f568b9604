import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import { permissionWord, type TopicDetail } from './topic-detail';

type RouteEntry = TopicDetail['route'][number];
const column = columnsFor<RouteEntry>();

/** The route as the name server answers it to clients. */
export function RouteTable({ route }: { route: RouteEntry[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('brokerGroupName', { header: t('route.group') }),
        column.accessor((entry) => `${entry.readQueueCount} / ${entry.writeQueueCount}`, {
          id: 'queues',
          header: t('route.queues'),
          meta: { align: 'right' },
        }),
        column.accessor('permissions', {
          header: t('route.permissions'),
          cell: ({ row }) => t(`permission.${permissionWord(row.original.permissions)}`),
        }),
        column.display({
          id: 'brokers',
          header: t('route.brokers'),
          cell: ({ row }) =>
            row.original.brokers.map((broker) => (
              <div key={broker.brokerId}>
                {broker.brokerId} <code>{broker.address}</code>
              </div>
            )),
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('route.title')}
      rows={route}
      columns={columns}
      rowId={(entry) => entry.brokerGroupName}
    />
  );
}
