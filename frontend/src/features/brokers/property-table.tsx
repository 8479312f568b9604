import { Checkbox } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import { awaitsRestart, type Property } from './broker';
import { PropertyRange } from './property-range';
import classes from './property-table.module.css';

/** Whether a setting is chosen is in its row: other columns would be other boxes, without the focus. */
type PropertyRow = Property & { isChosen: boolean };

const column = columnsFor<PropertyRow>();

type PropertyTableProps = {
  properties: Property[];
  chosen: ReadonlySet<string>;
  onChoose: (name: string, isChosen: boolean) => void;
};

/** Each setting with its value in force and in the file, what it may be, and when a change counts. */
export function PropertyTable({ properties, chosen, onChoose }: PropertyTableProps) {
  const { t } = useTranslation();
  const rows = useMemo(
    () => properties.map((one): PropertyRow => ({ ...one, isChosen: chosen.has(one.name) })),
    [properties, chosen],
  );
  const columns = useMemo(
    () =>
      column.columns([
        column.display({
          id: 'choose',
          header: () => <span className="visually-hidden">{t('settings.choose')}</span>,
          meta: { width: '1%' },
          cell: ({ row: { original } }) => (
            <Checkbox
              aria-label={t('settings.chooseOne', { name: original.name })}
              checked={original.isChosen}
              disabled={original.effect === 'FIXED'}
              onChange={(event) => onChoose(original.name, event.currentTarget.checked)}
            />
          ),
        }),
        column.accessor('name', {
          header: t('settings.name'),
          cell: ({ row: { original } }) => <code>{original.name}</code>,
        }),
        column.display({
          id: 'value',
          header: t('settings.value'),
          cell: ({ row: { original } }) => (
            <code className={classes.value} title={original.value}>
              {original.value}
            </code>
          ),
        }),
        column.display({
          id: 'stored',
          header: t('settings.stored'),
          cell: ({ row: { original } }) => {
            if (original.stored === null) return t('settings.notStored');
            if (!awaitsRestart(original)) return t('settings.same');
            return (
              <>
                <code className={classes.value}>{original.stored}</code>{' '}
                <StateMark tone="warn" label={t('settings.awaitsRestart')} />
              </>
            );
          },
        }),
        column.accessor((property) => t(`propertyEffect.${property.effect}`), {
          id: 'effect',
          header: t('settings.effect'),
        }),
        column.accessor((property) => property.default ?? t('settings.notReported'), {
          id: 'default',
          header: t('settings.default'),
          cell: ({ getValue }) => <code className={classes.value}>{getValue()}</code>,
        }),
        column.display({
          id: 'range',
          header: t('settings.range'),
          cell: ({ row: { original } }) => <PropertyRange property={original} />,
        }),
      ]),
    [t, onChoose],
  );
  return (
    <DataTable
      label={t('settings.title')}
      rows={rows}
      columns={columns}
      rowId={(property) => property.name}
    />
  );
}
