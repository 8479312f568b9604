import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import { type Delivery, deliveryTones } from './message';

const column = columnsFor<Delivery>();

/** How far each consumer group is with the message, and what that is concluded from. */
export function DeliveryTable({ deliveries }: { deliveries: Delivery[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('consumerGroupName', {
          header: t('delivery.group'),
          cell: ({ row: { original } }) => (
            <Link
              to="/consumer-groups/$consumerGroup"
              params={{ consumerGroup: original.consumerGroupName }}
              search={(now) => (now.cluster ? { cluster: now.cluster } : {})}
            >
              {original.consumerGroupName}
            </Link>
          ),
        }),
        column.accessor('state', {
          header: t('delivery.state'),
          cell: ({ row: { original } }) => (
            <StateMark
              tone={deliveryTones[original.state]}
              label={t(`deliveryState.${original.state}`)}
            />
          ),
        }),
        column.accessor('why', { header: t('delivery.why'), meta: { wraps: true } }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('delivery.title')}
      rows={deliveries}
      columns={columns}
      rowId={(one) => one.consumerGroupName}
    />
  );
}
