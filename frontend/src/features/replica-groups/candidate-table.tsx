import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Figure } from '@/components/figure';
import { Observed } from '@/components/observed';
import { columnsFor } from '@/components/table-features';
import { formatCount, formatInt64 } from '@/lib/format';
import { unknown } from '@/lib/reading';
import type { Candidate, LostGroup } from './adoption';

const column = columnsFor<Candidate>();
const unreported = <Figure reading={unknown} format={String} />;

/** What the brokers that wait for adoption report; what a broker does not report is unknown. */
export function CandidateTable({ lost }: { lost: LostGroup }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('brokerId', { header: t('replicas.id') }),
        column.accessor('address', {
          header: t('replicas.address'),
          cell: ({ row }) => <code>{row.original.address}</code>,
        }),
        column.display({
          id: 'epoch',
          header: t('adopt.epoch'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) =>
            original.epoch === null ? unreported : formatCount(original.epoch),
        }),
        column.display({
          id: 'end',
          header: t('replicas.end'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) =>
            original.maxOffset === null ? unreported : formatInt64(original.maxOffset),
        }),
        column.display({
          id: 'master',
          header: t('adopt.serves'),
          cell: ({ row: { original } }) => original.masterId ?? unreported,
        }),
        column.accessor(({ hasCode }) => t(hasCode ? 'word.yes' : 'word.no'), {
          id: 'code',
          header: t('adopt.code'),
        }),
        column.display({
          id: 'heard',
          header: t('replicas.heard'),
          cell: ({ row: { original } }) => <Observed bare atMs={Date.parse(original.heardAt)} />,
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('adopt.candidates', { group: lost.brokerGroupName })}
      rows={lost.candidates}
      columns={columns}
      rowId={(candidate) => candidate.brokerId}
    />
  );
}
