import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import type { MessageDetail } from './message';

type Property = MessageDetail['message']['properties'][number];

const column = columnsFor<Property>();

/** What the message carries besides its body. */
export function PropertyTable({ properties }: { properties: Property[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('name', { header: t('property.name') }),
        column.accessor('value', { header: t('property.value'), meta: { wraps: true } }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('property.title')}
      rows={properties}
      columns={columns}
      rowId={(one) => one.name}
    />
  );
}
