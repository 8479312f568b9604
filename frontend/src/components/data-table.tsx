import { type RowData, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { ColumnHead } from './column-head';
import classes from './data-table.module.css';
import { IgnoredNotice } from './ignored-notice';
import { sortingOf, sortTextOf } from './sort-text';
import { type Column, dataTableFeatures } from './table-features';

type DataTableProps<T extends RowData> = {
  label: string;
  rows: T[];
  columns: Column<T>[];
  rowId: (row: T) => string;
  /** "name" or "-name"; kept by the page in its address. */
  sort?: string | undefined;
  onSort?: (sort: string | undefined) => void;
};

const rowHeight = 32;
const virtualFrom = 100;

/** A dense table: sorting from the outside, and only the visible rows drawn once there are many. */
export function DataTable<T extends RowData>(props: DataTableProps<T>) {
  const { label, rows, columns, rowId, sort, onSort } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const wanted = sortingOf(sort);
  const sorting = wanted.filter(({ id }) => columns.some((column) => isSortable(column, id)));
  const table = useTable({
    features: dataTableFeatures,
    data: rows,
    columns,
    getRowId: rowId,
    enableSorting: onSort !== undefined,
    state: { sorting },
    onSortingChange: (update) => {
      onSort?.(sortTextOf(typeof update === 'function' ? update(sorting) : update));
    },
  });
  const model = table.getRowModel().rows;
  const virtual = model.length > virtualFrom;
  const virtualizer = useVirtualizer({
    count: model.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    enabled: virtual,
  });
  const items = virtualizer.getVirtualItems();
  const visible = virtual ? items.flatMap((item) => model[item.index] ?? []) : model;
  const before = virtual ? (items[0]?.start ?? 0) : 0;
  const after = virtual ? virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;

  return (
    <>
      {sort !== undefined && sorting.length === 0 ? (
        <IgnoredNotice ignored={[{ name: 'sort', value: sort, reason: 'value' }]} />
      ) : null}
      <section
        ref={scroller}
        className={classes.scroller}
        data-virtual={virtual}
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <table className={classes.table} aria-rowcount={virtual ? model.length + 1 : undefined}>
          <caption className="visually-hidden">{label}</caption>
          <thead>
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id}>
                {group.headers.map((header) => (
                  <ColumnHead
                    key={header.id}
                    layout={header.column.columnDef.meta}
                    sorted={header.column.getIsSorted()}
                    onSort={
                      header.column.getCanSort()
                        ? header.column.getToggleSortingHandler()
                        : undefined
                    }
                  >
                    <table.FlexRender header={header} />
                  </ColumnHead>
                ))}
              </tr>
            ))}
          </thead>
          <tbody>
            {before > 0 ? (
              <tr className={classes.spacer} style={{ height: before }} aria-hidden />
            ) : null}
            {visible.map((row) => (
              <tr
                key={row.id}
                className={classes.row}
                aria-rowindex={virtual ? row.index + 2 : undefined}
              >
                {row.getAllCells().map((cell) => (
                  <td
                    key={cell.id}
                    className={classes.cell}
                    data-align={cell.column.columnDef.meta?.align}
                    data-wraps={cell.column.columnDef.meta?.wraps}
                    data-spare={cell.column.columnDef.meta?.spare}
                  >
                    <table.FlexRender cell={cell} />
                  </td>
                ))}
              </tr>
            ))}
            {after > 0 ? (
              <tr className={classes.spacer} style={{ height: after }} aria-hidden />
            ) : null}
          </tbody>
        </table>
      </section>
    </>
  );
}

function isSortable<T extends RowData>(column: Column<T>, id: string): boolean {
  if ('accessorFn' in column) return column.id === id;
  return 'accessorKey' in column && (column.id ?? column.accessorKey) === id;
}
