import { Button } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Observed } from '@/components/observed';
import { columnsFor } from '@/components/table-features';
import type { TokenFieldsFragment } from '@/gql/operations';
import { formatDateTime } from '@/lib/format';

const column = columnsFor<TokenFieldsFragment>();

type TokenTableProps = {
  tokens: TokenFieldsFragment[];
  onRevoke: (token: TokenFieldsFragment) => void;
};

/** Which programs act for which user, how far each token reaches, and until when. */
export function TokenTable({ tokens, onRevoke }: TokenTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('name', { header: t('tokens.name') }),
        column.accessor('userName', { header: t('tokens.user') }),
        column.accessor((token) => `${token.prefix}…`, {
          id: 'prefix',
          header: t('tokens.prefix'),
          cell: ({ getValue }) => <code>{getValue()}</code>,
        }),
        column.accessor(
          (token) =>
            token.isReadOnly
              ? t('tokens.readOnlyRole', { role: t(`userRole.${token.role}`) })
              : t(`userRole.${token.role}`),
          { id: 'role', header: t('tokens.role') },
        ),
        column.accessor((token) => token.clusterPatterns.join(', '), {
          id: 'clusters',
          header: t('patterns.label'),
          cell: ({ getValue }) => <code>{getValue()}</code>,
        }),
        column.accessor((token) => formatDateTime(Date.parse(token.expiresAt)), {
          id: 'expires',
          header: t('tokens.expires'),
        }),
        column.display({
          id: 'used',
          header: t('tokens.used'),
          cell: ({ row: { original } }) =>
            original.lastUsedAt === null ? (
              t('tokens.never')
            ) : (
              <>
                <Observed
                  bare
                  atMs={Date.parse(original.lastUsedAt)}
                  staleMs={Number.POSITIVE_INFINITY}
                />{' '}
                <code>{original.lastUsedFrom}</code>
              </>
            ),
        }),
        column.display({
          id: 'actions',
          header: t('table.actions'),
          cell: ({ row: { original } }) => (
            <Button
              size="compact-xs"
              variant="default"
              aria-label={t('tokens.revokeLabel', { name: original.name })}
              onClick={() => onRevoke(original)}
            >
              {t('tokens.revoke')}
            </Button>
          ),
        }),
      ]),
    [t, onRevoke],
  );
  return (
    <DataTable
      label={t('tokens.title')}
      rows={tokens}
      columns={columns}
      rowId={(token) => token.id}
    />
  );
}
