import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './data-table.module.css';
import type { ColumnLayout } from './table-features';

type ColumnHeadProps = {
  layout: ColumnLayout | undefined;
  sorted: false | 'asc' | 'desc';
  /** Absent where the column cannot be sorted. */
  onSort: ((event: unknown) => void) | undefined;
  children: ReactNode;
};

const ariaSort = { asc: 'ascending', desc: 'descending' } as const;

/** The head of one column, a button where a click sorts. */
export function ColumnHead({ layout, sorted, onSort, children }: ColumnHeadProps) {
  const { t } = useTranslation();
  return (
    <th
      scope="col"
      className={classes.head}
      data-align={layout?.align}
      data-spare={layout?.spare}
      style={layout?.width ? { width: layout.width } : undefined}
      aria-sort={sorted ? ariaSort[sorted] : undefined}
    >
      {onSort ? (
        <button type="button" className={classes.sort} onClick={onSort} title={t('table.sort')}>
          {children}
          {sorted === 'asc' ? <IconArrowUp size={12} aria-hidden /> : null}
          {sorted === 'desc' ? <IconArrowDown size={12} aria-hidden /> : null}
        </button>
      ) : (
        children
      )}
    </th>
  );
}
