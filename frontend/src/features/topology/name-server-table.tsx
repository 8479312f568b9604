import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import { formatCount, formatDateTime, formatInt64 } from '@/lib/format';
import type { NameServerView } from './broker-view';

const column = columnsFor<NameServerView>();

/** Every name server with what it answers from. */
export function NameServerTable({ nameServers }: { nameServers: NameServerView[] }) {
  const { t } = useTranslation();
  const columns = useMemo(() => {
    const counts = ['topicCount', 'brokerCount', 'connectionCount'] as const;
    return column.columns([
      column.accessor('address', {
        header: t('nameServers.address'),
        cell: ({ row }) => <code>{row.original.address}</code>,
      }),
      column.accessor((server) => formatDateTime(Date.parse(server.startedAt)), {
        id: 'startedAt',
        header: t('nameServers.startedAt'),
      }),
      column.accessor((server) => formatInt64(server.routeVersion), {
        id: 'routeVersion',
        header: t('nameServers.routeVersion'),
        meta: { align: 'right' },
      }),
      ...counts.map((name) =>
        column.accessor((server) => formatCount(server[name]), {
          id: name,
          header: t(`nameServers.${name}`),
          meta: { align: 'right' },
        }),
      ),
    ]);
  }, [t]);
  return (
    <DataTable
      label={t('nameServers.title')}
      rows={nameServers}
      columns={columns}
      rowId={(server) => server.address}
    />
  );
}
