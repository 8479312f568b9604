import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Notice } from '@/components/notice';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { UnknownBrokers } from '@/components/unknown-brokers';
import { messagesFound } from '@/features/messages/message-queries';
import { MessageTable } from '@/features/messages/message-table';
import { useStaticTopics } from './use-static-topics';

type FoundMessagesProps = {
  clusterName: string;
  topicName: string;
  sought: string;
  isUnique: boolean;
};

/** The messages of a key, and whether these are all. */
export function FoundMessages({ clusterName, topicName, sought, isUnique }: FoundMessagesProps) {
  const { t } = useTranslation();
  const staticTopics = useStaticTopics(clusterName);
  const query = useQuery(messagesFound(clusterName, topicName, sought, isUnique));
  return (
    <Panel title={t('messages.found')} aside={<Answered atMs={query.dataUpdatedAt} />} flush>
      <QueryView query={query} needs="foundMessages">
        {({ foundMessages: { nodes, isComplete, unknown } }) => (
          <>
            <UnknownBrokers unknown={unknown} />
            {isComplete || unknown.length > 0 ? null : (
              <Notice tone="warn" title={t('messages.notAll')}>
                {t('messages.notAllNext')}
              </Notice>
            )}
            {nodes.length === 0 ? (
              <EmptyState title={t('messages.notFound', { key: sought })}>
                {t('messages.notFoundNext')}
              </EmptyState>
            ) : (
              <MessageTable messages={nodes} staticTopics={staticTopics} />
            )}
          </>
        )}
      </QueryView>
    </Panel>
  );
}
