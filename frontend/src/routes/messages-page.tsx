import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Page } from '@/components/page';
import { Panel } from '@/components/panel';
import { WriteButton } from '@/components/write-button';
import { type MessageSearch, MessageSearchForm } from '@/features/messages/message-search-form';
import { FollowedMessages } from './followed-messages';
import { FoundMessages } from './found-messages';
import { MessagesPanel } from './messages-panel';
import { SendModal } from './send-modal';
import { WithCluster } from './with-cluster';
import { withinPage } from './within-page';

/** Looks for messages by time, key and id, and follows a topic. */
export function MessagesPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/messages' });
  const { after, order, ...view } = useSearch({ from: '/console/messages' });
  const { by = 'time', topic, key } = view;
  const search = ({ key: sought, ...wanted }: MessageSearch) => {
    if (wanted.by === 'id' && sought) {
      void navigate({
        to: '/messages/$messageId',
        params: { messageId: sought },
        search: (now) => ({
          ...(now.cluster ? { cluster: now.cluster } : {}),
          ...(wanted.topic ? { topic: wanted.topic } : {}),
        }),
      });
      return;
    }
    void navigate({
      search: (now) => ({ ...now, ...wanted, key: sought, after: undefined }),
    });
  };
  const show = (wanted: 'send' | undefined) =>
    void navigate({ search: (now) => ({ ...now, order: wanted }), ...withinPage });
  return (
    <Page
      title={t('messages.title')}
      actions={<WriteButton onClick={() => show('send')}>{t('topic.send')}</WriteButton>}
    >
      <WithCluster>
        {(clusterName) => (
          <>
            <SendModal
              isOpen={order === 'send'}
              clusterName={clusterName}
              topicName={topic}
              groups={null}
              onClose={() => show(undefined)}
            />
            <Panel title={t('messageSearch.title')}>
              <MessageSearchForm
                key={`${by}/${topic ?? ''}`}
                search={{ ...view, by }}
                onSearch={search}
              />
            </Panel>
            {topic === undefined || by === 'id' ? (
              <Panel title={t('messages.list')}>
                <EmptyState title={t('messages.start')}>{t('messages.startNext')}</EmptyState>
              </Panel>
            ) : null}
            {topic !== undefined && by === 'time' ? (
              <MessagesPanel
                clusterName={clusterName}
                topicName={topic}
                wanted={{ begin: view.begin, end: view.end, after }}
              />
            ) : null}
            {topic !== undefined && (by === 'key' || by === 'unique') && key !== undefined ? (
              <FoundMessages
                clusterName={clusterName}
                topicName={topic}
                sought={key}
                isUnique={by === 'unique'}
              />
            ) : null}
            {topic !== undefined && by === 'follow' ? (
              <FollowedMessages clusterName={clusterName} topicName={topic} />
            ) : null}
          </>
        )}
      </WithCluster>
    </Page>
  );
}
