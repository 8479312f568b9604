import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Page } from '@/components/page';
import { QueryView } from '@/components/query-view';
import { messageOf } from '@/features/messages/message-queries';
import { MessageSections } from '@/features/messages/message-sections';
import { MessageBodyPanel } from './message-body-panel';
import { useClusterName } from './use-cluster-name';
import { useStaticTopics } from './use-static-topics';
import { WithCluster } from './with-cluster';

/** One message: where it lies, how far groups are with it, its properties and its body. */
export function MessagePage() {
  const { t } = useTranslation();
  const { messageId } = useParams({ from: '/console/messages/$messageId' });
  const { topic } = useSearch({ from: '/console/messages/$messageId' });
  const clusterName = useClusterName() ?? '';
  const staticTopics = useStaticTopics(clusterName);
  const query = useQuery({
    ...messageOf(clusterName, messageId, topic),
    enabled: clusterName !== '',
  });
  const back = (
    <Link to="/messages" search={(now) => (now.cluster ? { cluster: now.cluster } : {})}>
      ← {t('message.back')}
    </Link>
  );
  return (
    <Page title={messageId} crumb={back}>
      <WithCluster>
        {(name) => (
          <QueryView query={query}>
            {({ message }) =>
              message ? (
                <>
                  <MessageSections
                    found={message}
                    isStatic={staticTopics.has(message.message.topic)}
                  />
                  <MessageBodyPanel clusterName={name} messageId={message.message.messageId} />
                </>
              ) : (
                <EmptyState title={t('message.missing', { id: messageId })}>
                  {t(topic ? 'message.missingNext' : 'message.missingTopic')}
                </EmptyState>
              )
            }
          </QueryView>
        )}
      </WithCluster>
    </Page>
  );
}
