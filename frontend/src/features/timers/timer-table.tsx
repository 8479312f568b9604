import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { ReplicaGroupLink } from '@/components/replica-group-link';
import { columnsFor } from '@/components/table-features';
import { formatDateTime, formatInt64 } from '@/lib/format';
import type { BrokerTimers } from './timer-queries';
import { TimerState } from './timer-state';

const column = columnsFor<BrokerTimers>();

/** The masters with how many messages wait there, when they are due, and how late they come. */
export function TimerTable({ timers }: { timers: BrokerTimers[] }) {
  const { t } = useTranslation();
  const columns = useMemo(() => {
    const known = (text: string | null) =>
      text === null ? t('timers.notReported') : formatInt64(text);
    const time = (one: BrokerTimers, at: string | null) => {
      if (at !== null) return formatDateTime(Date.parse(at));
      return one.hours === null ? t('timers.notReported') : t('timers.noTime');
    };
    return column.columns([
      column.accessor('brokerGroupName', {
        header: t('timers.brokerGroup'),
        cell: ({ row: { original } }) => (
          <ReplicaGroupLink brokerGroupName={original.brokerGroupName} />
        ),
      }),
      column.accessor((one) => formatInt64(one.waitingCount), {
        id: 'waiting',
        header: t('timers.waiting'),
        meta: { align: 'right' },
      }),
      column.accessor((one) => known(one.overdueCount), {
        id: 'overdue',
        header: t('timers.overdue'),
        meta: { align: 'right' },
      }),
      column.accessor((one) => time(one, one.firstDueAt), {
        id: 'first',
        header: t('timers.firstDue'),
      }),
      column.accessor((one) => time(one, one.lastDueAt), {
        id: 'last',
        header: t('timers.lastDue'),
      }),
      column.accessor('topicCount', { header: t('timers.topics'), meta: { align: 'right' } }),
      column.display({
        id: 'state',
        header: t('timers.state'),
        meta: { wraps: true },
        cell: ({ row: { original } }) => <TimerState timers={original} />,
      }),
    ]);
  }, [t]);
  return (
    <DataTable
      label={t('timers.list')}
      rows={timers}
      columns={columns}
      rowId={(one) => one.brokerAddress}
    />
  );
}
