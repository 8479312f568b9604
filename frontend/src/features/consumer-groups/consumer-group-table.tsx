import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import { formatCount } from '@/lib/format';
import { AgeFigure } from './age-figure';
import { type ConsumerGroupRow, compareCounts } from './consumer-group';
import { GroupState } from './group-state';
import { LagFigure } from './lag-figure';

const column = columnsFor<ConsumerGroupRow>();

type ConsumerGroupTableProps = {
  groups: ConsumerGroupRow[];
  sort: string | undefined;
  onSort: (sort: string | undefined) => void;
};

/** One page of consumer groups; a click on a name opens it. */
export function ConsumerGroupTable({ groups, sort, onSort }: ConsumerGroupTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('name', {
          header: t('consumerGroups.name'),
          sortFn: 'alphanumeric',
          cell: ({ row }) => (
            <Link
              to="/consumer-groups/$consumerGroup"
              params={{ consumerGroup: row.original.name }}
              search={(now) => (now.cluster ? { cluster: now.cluster } : {})}
            >
              {row.original.name}
            </Link>
          ),
        }),
        column.accessor('state', {
          header: t('consumerGroups.state'),
          sortFn: 'basic',
          cell: ({ row: { original } }) => <GroupState group={original} />,
        }),
        column.accessor('memberCount', {
          id: 'members',
          header: t('consumerGroups.members'),
          sortFn: 'basic',
          meta: { align: 'right' },
          cell: ({ row }) => formatCount(row.original.memberCount),
        }),
        column.accessor((group) => group.lag.messageCount ?? undefined, {
          id: 'lag',
          header: t('consumerGroups.lag'),
          sortUndefined: 'last',
          sortFn: (left, right) =>
            compareCounts(left.original.lag.messageCount, right.original.lag.messageCount),
          meta: { align: 'right' },
          cell: ({ row }) => <LagFigure lag={row.original.lag} />,
        }),
        column.accessor((group) => group.lag.waitingMs ?? undefined, {
          id: 'waiting',
          header: t('consumerGroups.waiting'),
          sortUndefined: 'last',
          sortFn: (left, right) =>
            compareCounts(left.original.lag.waitingMs, right.original.lag.waitingMs),
          meta: { align: 'right' },
          cell: ({ row }) => <AgeFigure {...row.original.lag} />,
        }),
        column.accessor((group) => group.retryLag.messageCount ?? undefined, {
          id: 'retries',
          header: t('consumerGroups.retries'),
          sortUndefined: 'last',
          sortFn: (left, right) =>
            compareCounts(
              left.original.retryLag.messageCount,
              right.original.retryLag.messageCount,
            ),
          meta: { align: 'right' },
          cell: ({ row }) => <LagFigure lag={row.original.retryLag} />,
        }),
        column.accessor((group) => group.brokerGroupNames.join(', '), {
          id: 'groups',
          header: t('consumerGroups.groups'),
          sortFn: 'alphanumeric',
        }),
        column.accessor(({ protection }) => (protection === null ? 0 : 1), {
          id: 'protected',
          header: t('protection.column'),
          sortFn: 'basic',
          cell: ({ row }) =>
            t(row.original.protection === null ? 'protection.no' : 'protection.yes'),
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('consumerGroups.title')}
      rows={groups}
      columns={columns}
      rowId={(group) => group.name}
      sort={sort}
      onSort={onSort}
    />
  );
}
