import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Panel } from '@/components/panel';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import { agreementTones, type Operation } from './operation';

type ReadBack = Operation['readBack'][number];
const column = columnsFor<ReadBack>();

type ReadBackTableProps = { readBack: ReadBack[]; isStale: boolean };

/** What was intended beside what was read back after the last step; unknown is no agreement. */
export function ReadBackTable({ readBack, isStale }: ReadBackTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('what', { header: t('journal.what') }),
        column.accessor('intended', { header: t('readBack.intended') }),
        column.accessor((one) => one.observed ?? t('figure.unknown'), {
          id: 'observed',
          header: t('readBack.observed'),
        }),
        column.display({
          id: 'agreement',
          header: t('readBack.verdict'),
          meta: { width: '30%' },
          cell: ({ row: { original } }) => (
            <StateMark
              tone={isStale ? 'unknown' : agreementTones[original.agreement]}
              label={t(`agreement.${original.agreement}`)}
            />
          ),
        }),
      ]),
    [t, isStale],
  );
  return (
    <Panel title={t('readBack.title')} flush>
      <DataTable
        label={t('readBack.title')}
        rows={readBack}
        columns={columns}
        rowId={(one) => `${one.what} ${one.intended} ${one.observed}`}
      />
    </Panel>
  );
}
