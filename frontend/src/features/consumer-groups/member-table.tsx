import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import type { ConsumerGroupDetail } from './consumer-group';

type Member = ConsumerGroupDetail['members'][number];

const column = columnsFor<Member>();

/** The clients of the group that are connected now. */
export function MemberTable({ members }: { members: Member[] }) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('clientId', { header: t('member.clientId') }),
        column.accessor((one) => one.addresses.join(', '), {
          id: 'address',
          header: t('member.address'),
        }),
        column.accessor((one) => `${one.language} ${one.versionName ?? one.version}`, {
          id: 'version',
          header: t('member.version'),
        }),
        column.accessor((one) => one.brokerGroupNames.join(', '), {
          id: 'groups',
          header: t('member.groups'),
        }),
        column.accessor((one) => one.subscriptions.join(' / ') || t('member.notReported'), {
          id: 'subscriptions',
          header: t('member.subscriptions'),
          meta: { wraps: true },
        }),
      ]),
    [t],
  );
  return (
    <DataTable
      label={t('member.title')}
      rows={members}
      columns={columns}
      rowId={(one) => one.clientId}
    />
  );
}
