import {
  type ColumnDef,
  createColumnHelper,
  createSortedRowModel,
  type RowData,
  rowSortingFeature,
  sortFn_alphanumeric,
  sortFn_basic,
  tableFeatures,
} from '@tanstack/react-table';

/**
 * How one column is laid out; text of any length wraps, everything else stays on its line. A spare
 * one is left out of a narrow table: what it says must be found on the page of the thing itself.
 */
export type ColumnLayout = { align?: 'right'; width?: string; wraps?: boolean; spare?: boolean };

export const dataTableFeatures = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric, basic: sortFn_basic },
  columnMeta: {} as ColumnLayout,
});

export type DataTableFeatures = typeof dataTableFeatures;
// biome-ignore lint/suspicious/noExplicitAny: columns of one table hold values of different types
export type Column<T extends RowData> = ColumnDef<DataTableFeatures, T, any>;

export function columnsFor<T extends RowData>() {
  return createColumnHelper<DataTableFeatures, T>();
}
