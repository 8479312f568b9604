import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import type { TopicDetail } from './topic-detail';

type Placement = TopicDetail['placements'][number];
const column = columnsFor<Placement>();

/** Where the topic lies: its queues and permission on each broker group. */
export function PlacementTable({ placements }: { placements: Placement[] }) {
  const { t } = useTranslation();
  const columns = useMemo(() => {
    const yesNo = (id: 'readable' | 'writable' | 'isOrdered') =>
      column.accessor((placement) => t(placement[id] ? 'word.yes' : 'word.no'), {
        id,
        header: t(`placements.${id}`),
      });
    return column.columns([
      column.accessor('brokerGroupName', { header: t('placements.group') }),
      column.accessor('readQueueCount', {
        header: t('placements.readQueueCount'),
        meta: { align: 'right' },
      }),
      column.accessor('writeQueueCount', {
        header: t('placements.writeQueueCount'),
        meta: { align: 'right' },
      }),
      yesNo('readable'),
      yesNo('writable'),
      yesNo('isOrdered'),
    ]);
  }, [t]);
  return (
    <DataTable
      label={t('placements.title')}
      rows={placements}
      columns={columns}
      rowId={(placement) => placement.brokerGroupName}
    />
  );
}
