import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from './data-table';
import { LogicalRange } from './logical-range';
import { PhysicalRange } from './physical-range';
import { SegmentMark } from './segment-mark';
import { type LogicalQueue, type SegmentRow, segmentRows } from './segments';
import { columnsFor } from './table-features';

const column = columnsFor<SegmentRow>();

type SegmentTableProps = { label: string; queues: readonly LogicalQueue[] };

/** The segments of all logical queues, one a row: what the strip draws. */
export function SegmentTable({ label, queues }: SegmentTableProps) {
  const { t } = useTranslation();
  const rows = useMemo(() => segmentRows(queues), [queues]);
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('globalId', { header: t('segments.globalId'), meta: { align: 'right' } }),
        column.accessor('generation', {
          header: t('segments.generationHead'),
          meta: { align: 'right' },
        }),
        column.accessor('brokerGroupName', { header: t('segments.group') }),
        column.accessor('queueId', { header: t('segments.queueId'), meta: { align: 'right' } }),
        column.display({
          id: 'logical',
          header: t('segments.logical'),
          meta: { align: 'right' },
          cell: ({ row }) => <LogicalRange segment={row.original} />,
        }),
        column.display({
          id: 'physical',
          header: t('segments.physical'),
          meta: { align: 'right' },
          cell: ({ row }) => <PhysicalRange segment={row.original} />,
        }),
        column.display({
          id: 'state',
          header: t('segments.stateHead'),
          cell: ({ row }) => <SegmentMark state={row.original.state} />,
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={label}
      rows={rows}
      columns={columns}
      rowId={({ globalId, generation }) => `${globalId}/${generation}`}
    />
  );
}
