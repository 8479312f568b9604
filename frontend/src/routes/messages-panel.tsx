import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import { EmptyState } from '@/components/empty-state';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { UnknownBrokers } from '@/components/unknown-brokers';
import { type Browsing, messagesOf } from '@/features/messages/message-queries';
import { MessageTable } from '@/features/messages/message-table';
import { usePageTrail } from './use-page-trail';
import { useStaticTopics } from './use-static-topics';

type MessagesPanelProps = { clusterName: string; topicName: string; wanted: Browsing };

/** A topic's messages by when they were stored, page by page. */
export function MessagesPanel({ clusterName, topicName, wanted }: MessagesPanelProps) {
  const { t } = useTranslation();
  const staticTopics = useStaticTopics(clusterName);
  const query = useQuery(messagesOf(clusterName, topicName, wanted));
  const trail = usePageTrail();
  return (
    <Panel title={t('messages.list')} aside={<Answered atMs={query.dataUpdatedAt} />} flush>
      <QueryView query={query} needs="messages">
        {({ messages: { nodes, pageInfo, unknown } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          return (
            <>
              <UnknownBrokers unknown={unknown} />
              {nodes.length === 0 ? (
                <EmptyState title={t('messages.none')}>{t('messages.noneNext')}</EmptyState>
              ) : (
                <MessageTable messages={nodes} staticTopics={staticTopics} />
              )}
              <Pager
                label={t('messages.pages')}
                shown={nodes.length}
                onFirst={wanted.after ? trail.toFirst : undefined}
                onPrevious={trail.toPrevious}
                onNext={next ? () => trail.toNext(next) : undefined}
              />
            </>
          );
        }}
      </QueryView>
    </Panel>
  );
}
