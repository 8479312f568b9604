import { Checkbox } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { columnsFor } from '@/components/table-features';
import { formatDateTime } from '@/lib/format';
import { type DeadLetter, originOf } from './message';
import { MessageLink } from './message-link';

type LetterRow = DeadLetter & { isChosen: boolean };

const column = columnsFor<LetterRow>();

type DeadLetterTableProps = {
  letters: DeadLetter[];
  chosen: ReadonlySet<string>;
  onChoose: (messageId: string, isChosen: boolean) => void;
};

/** Dead letters of a consumer group, each with a box that chooses it. */
export function DeadLetterTable({ letters, chosen, onChoose }: DeadLetterTableProps) {
  const { t } = useTranslation();
  const rows = useMemo(
    () => letters.map((one): LetterRow => ({ ...one, isChosen: chosen.has(one.messageId) })),
    [letters, chosen],
  );
  const columns = useMemo(
    () =>
      column.columns([
        column.display({
          id: 'choose',
          header: () => <span className="visually-hidden">{t('deadLetters.choose')}</span>,
          meta: { width: '1%' },
          cell: ({ row: { original } }) => (
            <Checkbox
              aria-label={t('deadLetters.chooseOne', { id: original.messageId })}
              checked={original.isChosen}
              onChange={(event) => onChoose(original.messageId, event.currentTarget.checked)}
            />
          ),
        }),
        column.accessor((letter) => letter.storedAt ?? '', {
          id: 'storedAt',
          header: t('messages.storedAt'),
          cell: ({ row: { original } }) =>
            original.storedAt === null ? '' : formatDateTime(Date.parse(original.storedAt)),
        }),
        column.accessor('messageId', {
          header: t('messages.id'),
          cell: ({ row: { original } }) => <MessageLink messageId={original.messageId} />,
        }),
        column.accessor(originOf, { id: 'origin', header: t('deadLetters.topic') }),
        column.accessor('reconsumeTimes', {
          header: t('deadLetters.attempts'),
          meta: { align: 'right' },
        }),
        column.accessor((letter) => letter.keys.join(' '), {
          id: 'keys',
          header: t('messages.keys'),
        }),
      ]),
    [t, onChoose],
  );
  return (
    <DataTable
      label={t('deadLetters.title')}
      rows={rows}
      columns={columns}
      rowId={(one) => one.messageId}
    />
  );
}
