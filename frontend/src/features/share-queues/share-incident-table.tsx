import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import { formatDateTime } from '@/lib/format';
import { type ShareIncident, subjectOf } from './share-queue';
import classes from './share-queues.module.css';

const column = columnsFor<ShareIncident>();

/** What happened and what to do, what became of the record at the others, and how it ended. */
export function ShareIncidentTable({ incidents }: { incidents: ShareIncident[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('broker', { header: t('shareIncidents.broker') }),
        column.accessor(({ kind }) => t(`shareIncidentKind.${kind}`), {
          id: 'kind',
          header: t('shareIncidents.what'),
          meta: { wraps: true },
          cell: ({ row: { original }, getValue }) => (
            <>
              {getValue()}
              <p className={classes.explanation}>{original.explanation}</p>
            </>
          ),
        }),
        column.accessor(
          (one) => {
            const { word, values } = subjectOf(one);
            return t(word, { ...values });
          },
          { id: 'subject', header: t('shareIncidents.about') },
        ),
        column.accessor(({ outcome }) => t(`shareIncidentOutcome.${outcome ?? 'NONE'}`), {
          id: 'outcome',
          header: t('shareIncidents.others'),
        }),
        column.accessor(({ openedAt }) => formatDateTime(Date.parse(openedAt)), {
          id: 'opened',
          header: t('shareIncidents.since'),
        }),
        column.display({
          id: 'state',
          header: t('shareIncidents.state'),
          cell: ({ row: { original } }) => (
            <StateMark
              tone={original.resolution === null ? 'bad' : 'good'}
              label={t(`shareIncidentEnd.${original.resolution ?? 'OPEN'}`)}
            />
          ),
        }),
        column.accessor(({ reason }) => reason ?? t('shareIncidents.noReason'), {
          id: 'reason',
          header: t('shareIncidents.reason'),
          // A reason may be several sentences, with the path of a file.
          meta: { wraps: true },
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('shareIncidents.list')}
      rows={incidents}
      columns={columns}
      rowId={(one) => one.id}
    />
  );
}
