import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { brokerColumns } from './broker-columns';
import type { BrokerView } from './broker-view';

type BrokerTableProps = {
  brokers: BrokerView[];
  sort?: string | undefined;
  onSort?: (sort: string | undefined) => void;
};

/** Every broker with its state and live figures. */
export function BrokerTable({ brokers, sort, onSort }: BrokerTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(() => brokerColumns(t), [t]);
  return (
    <DataTable
      label={t('brokers.title')}
      rows={brokers}
      columns={columns}
      rowId={(broker) => broker.id}
      sort={sort}
      {...(onSort ? { onSort } : {})}
    />
  );
}
