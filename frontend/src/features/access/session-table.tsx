import { Button } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Observed } from '@/components/observed';
import { StateMark } from '@/components/state-mark';
import { columnsFor } from '@/components/table-features';
import type { OpenSessionsQuery } from '@/gql/operations';
import { formatDateTime } from '@/lib/format';
import classes from './access-form.module.css';

type Session = OpenSessionsQuery['sessions']['nodes'][number];
const column = columnsFor<Session>();

type SessionTableProps = { sessions: Session[]; isBusy: boolean; onEnd: (id: string) => void };

/** Where users are signed in, since when and until when. */
export function SessionTable({ sessions, isBusy, onEnd }: SessionTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('userName', { header: t('sessions.user') }),
        column.accessor('source', {
          header: t('sessions.source'),
          cell: ({ getValue }) => <code>{getValue()}</code>,
        }),
        column.accessor('userAgent', {
          header: t('sessions.program'),
          cell: ({ row: { original } }) => (
            <span className={classes.program} title={original.userAgent}>
              {original.userAgent}
            </span>
          ),
        }),
        column.accessor((session) => formatDateTime(Date.parse(session.createdAt)), {
          id: 'created',
          header: t('sessions.created'),
        }),
        column.display({
          id: 'used',
          header: t('sessions.used'),
          cell: ({ row: { original } }) => (
            <Observed
              bare
              atMs={Date.parse(original.lastUsedAt)}
              staleMs={Number.POSITIVE_INFINITY}
            />
          ),
        }),
        column.accessor((session) => formatDateTime(Date.parse(session.expiresAt)), {
          id: 'expires',
          header: t('sessions.expires'),
        }),
        column.display({
          id: 'actions',
          header: t('table.actions'),
          cell: ({ row: { original } }) =>
            original.isOwn ? (
              <StateMark tone="good" label={t('sessions.own')} />
            ) : (
              <Button
                size="compact-xs"
                variant="default"
                disabled={isBusy}
                aria-label={t('sessions.endLabel', {
                  name: original.userName,
                  source: original.source,
                })}
                onClick={() => onEnd(original.id)}
              >
                {t('sessions.end')}
              </Button>
            ),
        }),
      ]),
    [t, isBusy, onEnd],
  );
  return (
    <DataTable
      label={t('sessions.title')}
      rows={sessions}
      columns={columns}
      rowId={(session) => session.id}
    />
  );
}
