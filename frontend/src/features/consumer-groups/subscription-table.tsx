import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import type { ConsumerGroupDetail } from './consumer-group';

type Subscription = ConsumerGroupDetail['subscriptions'][number];

const column = columnsFor<Subscription>();

/** What the group reads, and with which filter; members that disagree show several. */
export function SubscriptionTable({ subscriptions }: { subscriptions: Subscription[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('topic', { header: t('subscription.topic') }),
        column.accessor((one) => one.expressions.join(t('subscription.or')), {
          id: 'expressions',
          header: t('subscription.expression'),
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('subscription.title')}
      rows={subscriptions}
      columns={columns}
      rowId={(one) => one.topic}
    />
  );
}
