import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import { formatBytes, formatInt64 } from '@/lib/format';
import type { EpochBar, EpochPicture } from './epoch-lanes';

const column = columnsFor<EpochBar>();

/** What the lanes show, as figures: the newest epoch first, and in it replica by replica. */
export function EpochTable({ picture }: { picture: EpochPicture }) {
  const { t } = useTranslation();
  const rows = useMemo(
    () =>
      picture.lanes
        .flatMap((lane) => lane.bars ?? [])
        .sort((left, right) => right.epoch - left.epoch),
    [picture],
  );
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('epoch', { header: t('epochs.epoch') }),
        column.accessor('brokerId', { header: t('epochs.replica') }),
        column.accessor((bar) => formatInt64(bar.startOffset), {
          id: 'start',
          header: t('epochs.start'),
          meta: { align: 'right' },
        }),
        column.accessor((bar) => formatInt64(bar.endOffset), {
          id: 'end',
          header: t('epochs.end'),
          meta: { align: 'right' },
        }),
        column.accessor(
          (bar) => formatBytes(Number(BigInt(bar.endOffset) - BigInt(bar.startOffset))),
          { id: 'bytes', header: t('epochs.bytes'), meta: { align: 'right' } },
        ),
        column.display({
          id: 'note',
          header: t('epochs.note'),
          meta: { width: '40%' },
          cell: ({ row: { original: bar } }) => {
            if (bar.isDiffering) return <StateMark tone="warn" label={t('epochs.differs')} />;
            return bar.isOpen ? t('epochs.open') : null;
          },
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('epochs.title')}
      rows={rows}
      columns={columns}
      rowId={(bar) => `${bar.brokerId}/${bar.epoch}`}
    />
  );
}
