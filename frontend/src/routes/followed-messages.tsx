import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Notice } from '@/components/notice';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { UnknownBrokers } from '@/components/unknown-brokers';
import { followPageSize, messagesFollowed } from '@/features/messages/message-queries';
import { MessageTable } from '@/features/messages/message-table';
import { useStaticTopics } from './use-static-topics';

type FollowedMessagesProps = { clusterName: string; topicName: string };

/** What is stored in a topic from now on, the newest first. */
export function FollowedMessages({ clusterName, topicName }: FollowedMessagesProps) {
  const { t } = useTranslation();
  const staticTopics = useStaticTopics(clusterName);
  const query = useQuery(messagesFollowed(clusterName, topicName));
  return (
    <Panel
      title={t('messages.followed', { topic: topicName })}
      aside={<Answered atMs={query.dataUpdatedAt} />}
      flush
    >
      <QueryView query={query} needs="messages">
        {({ messages: { nodes, pageInfo, unknown } }) => (
          <>
            <UnknownBrokers unknown={unknown} />
            {pageInfo.hasNextPage ? (
              <Notice tone="warn" title={t('messages.tooMany')}>
                {t('messages.tooManyNext', { limit: followPageSize })}
              </Notice>
            ) : null}
            {nodes.length === 0 ? (
              <EmptyState title={t('messages.nothingYet')}>
                {t('messages.nothingYetNext')}
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
