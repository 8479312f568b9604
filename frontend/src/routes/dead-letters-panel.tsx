import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Notice } from '@/components/notice';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { UnknownBrokers } from '@/components/unknown-brokers';
import { WriteButton } from '@/components/write-button';
import { DeadLetterTable } from '@/features/messages/dead-letter-table';
import { deadLettersOf, deadLettersShown } from '@/features/messages/message-queries';
import { resendDeadLetters } from '@/features/orders/dead-letter-orders';
import { ApiError } from '@/lib/api-error';
import { OrderModal } from './order-modal';

type DeadLettersPanelProps = { clusterName: string; consumerGroupName: string };

function hasNone(error: Error | null): boolean {
  return error instanceof ApiError && error.facts.reason === 'topic_not_found';
}

/** The dead letters of a consumer group, and the way to send some or all of them again. */
export function DeadLettersPanel({ clusterName, consumerGroupName }: DeadLettersPanelProps) {
  const { t } = useTranslation();
  const query = useQuery(deadLettersOf(clusterName, consumerGroupName));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [wanted, setWanted] = useState<readonly string[]>();
  const choose = useCallback((messageId: string, isChosen: boolean) => {
    setChosen((now) => {
      const next = new Set(now);
      if (isChosen) next.add(messageId);
      else next.delete(messageId);
      return next;
    });
  }, []);
  const none = <EmptyState title={t('deadLetters.none')}>{t('deadLetters.noneNext')}</EmptyState>;
  const isEmpty = query.data?.data.messages.nodes.length === 0 || hasNone(query.error);
  return (
    <Panel
      title={t('deadLetters.title')}
      aside={
        <>
          <Answered atMs={query.dataUpdatedAt} />
          <WriteButton
            variant="default"
            disabled={chosen.size === 0}
            onClick={() => setWanted([...chosen])}
          >
            {t('deadLetters.resend', { count: chosen.size })}
          </WriteButton>
          <WriteButton disabled={isEmpty} onClick={() => setWanted([])}>
            {t('deadLetters.resendAll')}
          </WriteButton>
        </>
      }
      flush
    >
      {hasNone(query.error) ? (
        none
      ) : (
        <QueryView query={query} needs="messages">
          {({ messages: { nodes, pageInfo, unknown } }) => (
            <>
              <UnknownBrokers unknown={unknown} />
              {pageInfo.hasNextPage ? (
                <Notice tone="info" title={t('deadLetters.more', { limit: deadLettersShown })} />
              ) : null}
              {nodes.length === 0 ? (
                none
              ) : (
                <DeadLetterTable letters={nodes} chosen={chosen} onChoose={choose} />
              )}
            </>
          )}
        </QueryView>
      )}
      <OrderModal
        kind={wanted && resendDeadLetters(clusterName, consumerGroupName, wanted)}
        onClose={() => setWanted(undefined)}
      />
    </Panel>
  );
}
