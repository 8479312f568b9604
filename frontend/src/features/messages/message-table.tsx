import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '@/components/data-table';
import { Figure } from '@/components/figure';
import { columnsFor } from '@/components/table-features';
import { formatBytes, formatDateTime, formatInt64 } from '@/lib/format';
import { unknown } from '@/lib/reading';
import type { MessageRow } from './message';
import { MessageLink } from './message-link';

const column = columnsFor<MessageRow>();

type MessageTableProps = {
  messages: MessageRow[];
  /** Of these topics, queues and offsets are logical. */
  staticTopics: ReadonlySet<string>;
};

/** Messages as they were stored; a click on an id opens one. Bodies are on the page of each. */
export function MessageTable({ messages, staticTopics }: MessageTableProps) {
  const { t } = useTranslation();
  const columns = useMemo(
    () =>
      column.columns([
        column.accessor('storedAt', {
          header: t('messages.storedAt'),
          cell: ({ row: { original } }) =>
            original.storedAt === null ? (
              <Figure reading={unknown} format={String} />
            ) : (
              formatDateTime(Date.parse(original.storedAt))
            ),
        }),
        column.accessor('messageId', {
          header: t('messages.id'),
          cell: ({ row: { original } }) => <MessageLink messageId={original.messageId} />,
        }),
        column.accessor('brokerGroupName', { header: t('messages.group') }),
        column.accessor('queueId', {
          header: t('messages.queue'),
          meta: { align: 'right' },
          cell: ({ row: { original } }) =>
            staticTopics.has(original.topic)
              ? t('messages.logical', { globalId: original.queueId })
              : original.queueId,
        }),
        column.accessor('queueOffset', {
          header: t('messages.offset'),
          meta: { align: 'right' },
          cell: ({ row }) => formatInt64(row.original.queueOffset),
        }),
        column.accessor((message) => message.keys.join(' '), {
          id: 'keys',
          header: t('messages.keys'),
        }),
        column.accessor((message) => message.tags ?? '', {
          id: 'tags',
          header: t('messages.tags'),
        }),
        column.accessor('bodyBytes', {
          header: t('messages.size'),
          meta: { align: 'right' },
          cell: ({ row }) => formatBytes(row.original.bodyBytes),
        }),
      ]),
    [staticTopics, t],
  );
  return (
    <DataTable
      label={t('messages.title')}
      rows={messages}
      columns={columns}
      rowId={(one) => `${one.brokerGroupName}/${one.topic}/${one.queueId}/${one.queueOffset}`}
    />
  );
}
