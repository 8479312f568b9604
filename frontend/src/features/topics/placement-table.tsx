import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import type { TopicDetail } from './topic-detail';

type Placement = TopicDetail['placements'][number];
const column = columnsFor<Placement>();

/** The word for a type of messages; RocketMQ knows types that Regent has no word for. */
function typeText(t: TFunction, type: string | null): string {
  return type === null ? t('placements.anyType') : t(`messageType.${type}`, { defaultValue: type });
}

/** Where the topic lies: its queues and permission on each broker group. */
export function PlacementTable({ placements }: { placements: Placement[] }) {
  const { t } = useTranslation();
  const columns = useMemo(() => {
    const yesNo = (id: 'readable' | 'writable' | 'isOrdered' | 'isReplicated') =>
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
      column.accessor(({ messageType }) => typeText(t, messageType), {
        id: 'messageType',
        header: t('placements.messageType'),
        meta: { spare: true },
      }),
      column.accessor(({ shareMode }) => t(`shareMode.${shareMode}`), {
        id: 'shareMode',
        header: t('placements.shareMode'),
        meta: { spare: true },
      }),
      yesNo('isReplicated'),
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
